import { checkFunction, checkNumber, jitteredNs, msOfNs, nsOfMs } from '@sluice/core'
import { checkDuration } from './duration.ts'
import { defaultRandom, type Random } from './random.ts'

/**
 * Makes a duration longer by chance: by up to `factor` times itself, evenly spread. As in the
 * original, a factor of zero or less is taken for 1: up to twice as long.
 *
 * In whole nanoseconds, and never beyond ten years.
 */
export function jitter(ms: number, factor: number, random: Random = defaultRandom): number {
  checkFunction('random', random)
  checkNumber('factor', factor)
  return jittered(checkDuration('ms', ms), factor > 0 ? factor : 1, random)
}

/** The same where zero and less mean none, as they do wherever jitter is an option. */
export function jittered(ms: number, factor: number, random: Random): number {
  return factor > 0 ? msOfNs(jitteredNs(nsOfMs(ms), factor, random())) : ms
}
