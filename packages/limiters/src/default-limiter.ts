import type { Clock, PlannedLimiter } from '@sluice/core'
import { checkObject } from '@sluice/core'
import { exponential } from './exponential.ts'
import { maxOf } from './max-of.ts'
import { tokenBucket } from './token-bucket-limiter.ts'

/** Options of a {@link defaultControllerLimiter}. */
export interface DefaultControllerLimiterOptions {
  /**
   * The clock when the limiter is used alone, the system's by default; in a queue, the queue's clock is
   * used.
   */
  readonly clock?: Clock | undefined
}

/**
 * The default limiter of a queue: 5 ms after the first failure of a key, doubling up to 1,000 s;
 * and for all keys together at most 10 failures per second, after a burst of 100.
 *
 * The bucket is the queue's own: two queues that both use this limiter do not slow each other down,
 * and all processes of one queue share one. The guide on rate limiting shows what the bucket does
 * to thousands of keys that fail together, and how to bound it.
 */
export function defaultControllerLimiter(
  options: DefaultControllerLimiterOptions = {},
): PlannedLimiter {
  checkObject('options', options, ['clock'])
  return maxOf(
    exponential({ baseMs: 5, maxMs: 1_000_000 }),
    tokenBucket({ perSecond: 10, burst: 100, clock: options.clock }),
  )
}

/** A limiter for retries of single items: 1 ms after the first failure, doubling up to 1,000 s. */
export function defaultItemLimiter(): PlannedLimiter {
  return exponential({ baseMs: 1, maxMs: 1_000_000 })
}
