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
import { checkRatePerSecond, checkRateTokens } from './check-rate.ts'

/** Options of a {@link tokenBucket} limiter. */
export interface TokenBucketLimiterOptions {
  /**
   * The name of the bucket in the store. All limiters with the same name share the bucket, also in
   * other queues and other processes. Without a name, each queue has its own bucket, which all of
   * its processes share.
   */
  readonly name?: string | undefined
  /** Tokens added per second. `Infinity` never delays; 0 never fills. See {@link every}. */
  readonly perSecond: number
  /** The capacity; the bucket starts full. With 0, every delay is the maximum. */
  readonly burst: number
  /**
   * The clock when the limiter is used alone, the system's by default; in a queue, the queue's clock is
   * used.
   */
  readonly clock?: Clock | undefined
}

/**
 * Lets through `burst` failures at once and then `perSecond`, over all items: each failure takes a
 * token, and waits until its token is available.
 *
 * The wait has no upper bound: after 10,000 failures at 10 per second the next one waits more than
 * a quarter of an hour. {@link withMaxWait} bounds it. In a queue, an add that changes nothing
 * takes no token. The limiter counts nothing: `forget` does nothing, `numRequeues` is 0.
 */
export function tokenBucket(options: TokenBucketLimiterOptions): PlannedLimiter {
  checkObject('options', options, ['name', 'perSecond', 'burst', 'clock'])
  const { name = '', clock = systemClock } = options
  checkObject('clock', clock)
  const perSecond = checkRatePerSecond('perSecond', options.perSecond)
  const plan: BucketPlan = {
    kind: 'bucket',
    name: checkQueueName('name', name, { empty: true }),
    perSecond: perSecond === Infinity ? 'infinite' : perSecond,
    burst: checkRateTokens('burst', options.burst),
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
