import {
  type BucketPlan,
  type BucketState,
  bucketsOf,
  type Clock,
  checkObject,
  checkQueueName,
  type PlannedLimiter,
  planDelay,
  reserveToken,
  systemClock,
} from '@sluice/core'
import { checkPerSecond, checkTokens } from './rate.ts'

/** The bucket of a {@link tokenBucket} limiter. */
export interface TokenBucketLimiterOptions {
  /**
   * Which bucket of the store it is. Everyone who gives the same name takes from the same bucket,
   * also in other queues and other processes. Left out, each queue has one of its own, which all of
   * its processes share.
   */
  readonly name?: string | undefined
  /** Tokens that flow in per second. `Infinity` never delays; 0 never fills. See {@link every}. */
  readonly perSecond: number
  /** The most tokens it holds; it starts full. 0 gives none: every delay is the longest there is. */
  readonly burst: number
  /** Decides what time it is when the limiter is used alone; in a queue, the queue's clock does. */
  readonly clock?: Clock | undefined
}

/**
 * Lets through `burst` failures at once and then `perSecond`, whatever the items are: each takes a
 * token, and waits until its token has flowed in.
 *
 * There is no upper bound to the wait: after 10,000 failures at 10 per second the next one waits
 * more than a quarter of an hour. {@link withMaxWait} bounds it. In a queue, an add that changes
 * nothing takes no token. It counts nothing: `forget` does nothing, `numRequeues` is 0.
 */
export function tokenBucket(options: TokenBucketLimiterOptions): PlannedLimiter {
  checkObject('options', options, ['name', 'perSecond', 'burst', 'clock'])
  const { name = '', clock = systemClock } = options
  checkObject('options.clock', clock)
  const perSecond = checkPerSecond('options.perSecond', options.perSecond)
  const plan: BucketPlan = {
    kind: 'bucket',
    name: checkQueueName('options.name', name, { empty: true }),
    perSecond: perSecond === Infinity ? 'infinite' : perSecond,
    burst: checkTokens('options.burst', options.burst),
  }
  const [bucket] = bucketsOf(plan)
  let state: BucketState | undefined
  return {
    plan,
    when: () => {
      if (bucket === undefined) return 0
      const reserved = reserveToken(state, bucket, clock.now())
      state = reserved.state
      return planDelay(plan, 0, new Map([[plan.name, reserved.delayMs]]), 0)
    },
    forget: () => {},
    numRequeues: () => 0,
  }
}
