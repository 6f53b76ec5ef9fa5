import { delayMsMax } from '../limits.ts'

/**
 * Delays are worked out in whole nanoseconds, as the originals do, and handed out in milliseconds:
 * a third of a second is 333.333333 ms everywhere, in every store. Both are floats; as
 * milliseconds, whole nanoseconds are exact enough to be found again for delays below 26 days.
 */

/** {@link delayMsMax} in nanoseconds. */
export const delayNsMax: number = delayMsMax * 1e6

/** A duration as whole nanoseconds, cut towards zero; finds again what {@link msOfNs} was given. */
export function nsOfMs(ms: number): number {
  const ns = ms * 1e6
  // Whole milliseconds, which most delays are, need neither; it is a tenth of the cost.
  if ((ms | 0) === ms) return ns
  const whole = Math.round(ns)
  // 333.333333 * 1e6 falls just short of a whole number, and cutting it would lose a nanosecond.
  return whole / 1e6 === ms ? whole : Math.trunc(ns)
}

/** Nanoseconds as milliseconds. */
export function msOfNs(ns: number): number {
  return ns / 1e6
}

/** Keeps a delay within 0 and ten years; `NaN` is 0. */
export function clampNs(ns: number): number {
  return ns > 0 ? Math.min(ns, delayNsMax) : 0
}

/**
 * A delay of `ns` made longer by up to `factor` times itself: by all of that if `chance` were 1, by
 * nothing if it is 0. Never beyond ten years.
 */
export function jitteredNs(ns: number, factor: number, chance: number): number {
  const share = chance > 0 ? Math.min(chance, 1) : 0
  return clampNs(ns + Math.trunc(share * factor * ns))
}
