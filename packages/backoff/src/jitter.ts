import { checkFunction, checkNumber, jitteredNs, msOfNs, nsOfMs } from '@sluice/core'
import { checkDuration } from './duration.ts'
import { defaultRandom, type Random } from './random.ts'

/**
 * Adds a random part to a duration: up to `factor` times the duration, evenly distributed. As in
 * the original, a factor of zero or less counts as 1: up to twice as long.
 *
 * In whole nanoseconds, and never beyond ten years.
 */
export function jitter(ms: number, factor: number, random: Random = defaultRandom): number {
  checkFunction('random', random)
  checkNumber('factor', factor)
  return jittered(checkDuration('ms', ms), factor > 0 ? factor : 1, random)
}

/** The same, but zero and less mean none, as in all options named jitter. */
export function jittered(ms: number, factor: number, random: Random): number {
  return factor > 0 ? msOfNs(jitteredNs(nsOfMs(ms), factor, random())) : ms
}
