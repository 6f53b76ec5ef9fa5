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
