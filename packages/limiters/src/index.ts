/**
 * Rate limiters for work queues, as in client-go: a `Limiter` decides how long a failed item waits. Begin
 * with `exponential` or `defaultControllerLimiter`, and combine limiters with `maxOf`, `withMaxWait` and
 * `jittered`. Used alone, a limiter counts in memory; in a queue, the store counts by the limiter's plan.
 * `TokenBucket` is the token bucket without a limiter, with reservations.
 *
 * @packageDocumentation
 */

export type { Limiter, LimiterPlan, PlannedLimiter } from '@sluice/core'
export {
  type DefaultControllerLimiterOptions,
  defaultControllerLimiter,
  defaultItemLimiter,
} from './default-limiter.ts'
export { every } from './every.ts'
export { type ExponentialOptions, exponential } from './exponential.ts'
export { type FastSlowOptions, fastSlow } from './fast-slow.ts'
export { type JitteredOptions, jittered } from './jittered.ts'
export { type ItemOfAll, maxOf } from './max-of.ts'
export { withMaxWait } from './max-wait.ts'
export type { Random } from './random.ts'
export {
  type Reservation,
  TokenBucket,
  type TokenBucketOptions,
  type WaitOptions,
} from './token-bucket.ts'
export { type TokenBucketLimiterOptions, tokenBucket } from './token-bucket-limiter.ts'
