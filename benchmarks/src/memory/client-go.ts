/**
 * What client-go did, and what the bare loop did beside it, on the day the goals were set: client-go
 * v0.31 compiled with Go 1.19, and Node 24, on the same two cores within the same hour, three runs
 * each, in millions of items per second.
 *
 * Go is not run here. How this machine, now, compares with that one is read off the bare loop, which
 * takes turns with what is measured:
 *
 *     speed   = bare loop now / bare loop then
 *     implied = ours now / (client-go then * speed)
 *
 * with the middle of each recorded range, and the median of each measured one. Workloads that fill
 * memory are scaled by the loop that fills and drains, the others by the steady one.
 */
export interface Range {
  readonly low: number
  readonly high: number
}

/** The loops by which the speed of this machine is told. */
export type Yardstick = 'fill then drain' | 'steady'

/** The bare awaited loop, then. */
export const bareThen: Readonly<Record<Yardstick, Range>> = {
  'fill then drain': { low: 0.65, high: 0.77 },
  steady: { low: 2.3, high: 2.9 },
}

/** client-go, then. */
export const clientGoThen = {
  fillDrain: { low: 0.71, high: 0.89 },
  steady: { low: 2.8, high: 4.4 },
  hot: { low: 32, high: 40 },
  producerAndWorkers: { low: 1.3, high: 1.9 },
  rateLimited: { low: 0.67, high: 1.06 },
  delayed: { low: 0.58, high: 0.72 },
} as const satisfies Readonly<Record<string, Range>>

export function middle({ low, high }: Range): number {
  return (low + high) / 2
}
