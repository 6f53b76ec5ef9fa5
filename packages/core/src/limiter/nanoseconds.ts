import { delayMsMax } from '../limits.ts'

/**
 * Delays are computed in whole nanoseconds, as in client-go, and returned in milliseconds: a third
 * of a second is 333.333333 ms in every store. Both are floats; whole nanoseconds survive the
 * conversion to milliseconds and back for delays below 26 days.
 */

/** {@link delayMsMax} in nanoseconds. */
export const delayNsMax: number = delayMsMax * 1e6

/** A duration as whole nanoseconds, cut towards zero; the inverse of {@link msOfNs}. */
export function nsOfMs(ms: number): number {
  const ns = ms * 1e6
  // Whole milliseconds, as most delays are, need no rounding; this takes a tenth of the time.
  if ((ms | 0) === ms) return ns
  const whole = Math.round(ns)
  // 333.333333 * 1e6 is just below a whole number, and cutting it would lose a nanosecond.
  return whole / 1e6 === ms ? whole : Math.trunc(ns)
}

/** Nanoseconds as milliseconds. */
export function msOfNs(ns: number): number {
  return ns / 1e6
}

/** Limits a delay to 0 up to ten years; `NaN` is 0. */
export function clampNs(ns: number): number {
  return ns > 0 ? Math.min(ns, delayNsMax) : 0
}

/**
 * A delay of `ns` made longer by `chance`, a number from 0 to 1, times `factor` times itself. Never
 * beyond ten years.
 */
export function jitteredNs(ns: number, factor: number, chance: number): number {
  const share = chance > 0 ? Math.min(chance, 1) : 0
  return clampNs(ns + Math.trunc(share * factor * ns))
}
