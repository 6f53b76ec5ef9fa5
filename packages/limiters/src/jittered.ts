import {
  checkFunction,
  checkLimiter,
  checkNumber,
  checkObject,
  clampNs,
  jitteredNs,
  type Limiter,
  msOfNs,
  nsOfMs,
  type PlannedLimiter,
} from '@sluice/core'
import { composedPlan, partDelay } from './composed.ts'
import { defaultRandom, type Random } from './random.ts'

/** Options of a {@link jittered} limiter. */
export interface JitteredOptions {
  /**
   * Numbers from 0 to below 1 for when the limiter is used alone; a queue draws its own. Default: the
   * randomness of the runtime.
   */
  readonly random?: Random | undefined
}

/**
 * Adds a random part to the delays of another limiter: up to `factor` times the delay, evenly
 * distributed, so that keys that failed together are not retried together. A factor of 0 changes
 * nothing.
 *
 * It only ever adds. Put {@link withMaxWait} around it to bound the result.
 */
export function jittered(
  limiter: PlannedLimiter,
  factor: number,
  options?: JitteredOptions,
): PlannedLimiter
export function jittered<T>(
  limiter: Limiter<T>,
  factor: number,
  options?: JitteredOptions,
): Limiter<T>
export function jittered<T>(
  limiter: Limiter<T>,
  factor: number,
  options: JitteredOptions = {},
): Limiter<T> {
  const part = checkLimiter('limiter', limiter)
  checkNumber('factor', factor, { min: 0 })
  checkObject('options', options, ['random'])
  const random = checkFunction('random', options.random ?? defaultRandom)
  const plan = composedPlan([part], ([of]) => ({ kind: 'jittered', of: of!, factor }))
  return {
    ...(plan && { plan }),
    when: (item) => {
      const ms = partDelay(part, item)
      // Nothing to add to; and NaN stays NaN, so that a broken limiter is noticed.
      if (!(ms > 0)) return ms
      return msOfNs(jitteredNs(clampNs(nsOfMs(ms)), factor, random()))
    },
    forget: (item) => part.forget(item),
    numRequeues: (item) => part.numRequeues(item),
  }
}
