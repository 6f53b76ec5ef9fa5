import { checkObject, type PlannedLimiter, perKeyDelay } from '@sluice/core'
import { checkBound, checkDuration } from './duration.ts'
import { FailureCounts } from './failure-counts.ts'

/** Options of an {@link exponential} limiter. */
export interface ExponentialOptions {
  /** The delay after the first failure, in milliseconds. 0 stays 0. */
  readonly baseMs: number
  /** No delay is longer than this, not even the first; `Infinity` for no bound but ten years. */
  readonly maxMs: number
}

/**
 * Doubles the delay of an item with every failure: `baseMs`, then twice that, and so on up to
 * `maxMs`, where it stays.
 *
 * Each item has its own count, which grows until `forget`. There is no jitter; see {@link
 * jittered}.
 */
export function exponential(options: ExponentialOptions): PlannedLimiter {
  checkObject('options', options, ['baseMs', 'maxMs'])
  const plan = {
    kind: 'exponential',
    baseMs: checkDuration('baseMs', options.baseMs),
    maxMs: checkBound('maxMs', options.maxMs),
  } as const
  const failures = new FailureCounts()
  return {
    plan,
    when: (item) => perKeyDelay(plan, failures.count(item), 0),
    forget: (item) => failures.forget(item),
    numRequeues: (item) => failures.of(item),
  }
}
