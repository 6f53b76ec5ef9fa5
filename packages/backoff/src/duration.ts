import { checkNumber, delayMsMax, msOfNs, nsOfMs } from '@sluice/core'

/** Asserts a duration of zero or more, in whole nanoseconds; longer than ten years is ten years. */
export function checkDuration(parameter: string, ms: unknown): number {
  return msOfNs(nsOfMs(Math.min(checkNumber(parameter, ms, { min: 0 }), delayMsMax)))
}

/** The same for an upper bound: 0 and `Infinity` mean none, and are 0. */
export function checkCap(parameter: string, ms: unknown): number {
  return ms === Infinity ? 0 : checkDuration(parameter, ms)
}
