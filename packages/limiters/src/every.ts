import { describeValue, SluiceTypeError } from '@sluice/core'

/**
 * The rate, in tokens per second, at which one token comes every `intervalMs`. An interval of zero
 * or less is an infinite rate, and an infinite interval a rate of zero.
 */
export function every(intervalMs: number): number {
  if (typeof intervalMs !== 'number' || Number.isNaN(intervalMs)) {
    throw new SluiceTypeError(
      'intervalMs',
      `must be a number of milliseconds; got ${describeValue(intervalMs)}`,
    )
  }
  return intervalMs <= 0 ? Infinity : 1_000 / intervalMs
}
