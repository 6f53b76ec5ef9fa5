import { checkNumber, checkObject, type PlannedLimiter, perKeyDelay } from '@sluice/core'
import { checkDuration } from './duration.ts'
import { FailureCounts } from './failure-counts.ts'

/** The two delays of a {@link fastSlow} limiter, and when it changes from one to the other. */
export interface FastSlowOptions {
  /** The delay after each of the first `maxFast` failures, in milliseconds. */
  readonly fastMs: number
  /** The delay after each later one, in milliseconds. */
  readonly slowMs: number
  /** How many failures get the fast delay; with 0 every delay is slow. */
  readonly maxFast: number
}

/** Retries an item quickly for a few failures, and slowly after that, until `forget`. */
export function fastSlow(options: FastSlowOptions): PlannedLimiter {
  checkObject('options', options, ['fastMs', 'slowMs', 'maxFast'])
  const plan = {
    kind: 'fastSlow',
    fastMs: checkDuration('fastMs', options.fastMs),
    slowMs: checkDuration('slowMs', options.slowMs),
    maxFast: checkNumber('maxFast', options.maxFast, { min: 0, integer: true }),
  } as const
  const failures = new FailureCounts()
  return {
    plan,
    when: (item) => perKeyDelay(plan, failures.count(item), 0),
    forget: (item) => failures.forget(item),
    numRequeues: (item) => failures.of(item),
  }
}
