import { checkNumber, delayMsMax, msOfNs, nsOfMs } from '@sluice/core'

/** Asserts a duration of zero or more, in whole nanoseconds; longer than ten years is ten years. */
export function checkDuration(parameter: string, ms: unknown): number {
  return msOfNs(nsOfMs(Math.min(checkNumber(parameter, ms, { min: 0 }), delayMsMax)))
}

/** The same for an upper bound, which may also be `Infinity`, meaning none. */
export function checkBound(parameter: string, ms: unknown): number {
  return ms === Infinity ? delayMsMax : checkDuration(parameter, ms)
}
