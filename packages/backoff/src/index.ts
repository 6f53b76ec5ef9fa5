/**
 * Back-off for code without a queue, as in Kubernetes' `apimachinery`. `Backoff` computes the delays; a
 * `BackoffManager` also decides when they start over. `exponentialBackoff` and `pollUntil` wait for a
 * condition; `backoffUntil`, `until` and `jitterUntil` run a function in a loop. Functions that wait
 * take a `clock` (`backoffUntil` uses that of its manager) and a `signal` (`forever` takes none).
 *
 * @packageDocumentation
 */

export { Backoff, type BackoffOptions, type DelayFn } from './backoff.ts'
export { type BackoffUntilOptions, backoffUntil, type LoopFn } from './backoff-until.ts'
export {
  type Condition,
  type ExponentialBackoffWaitOptions,
  exponentialBackoff,
} from './exponential-backoff.ts'
export { isInterrupted } from './interrupted.ts'
export { jitter } from './jitter.ts'
export type { LoopErrorOptions } from './loop-errors.ts'
export type { BackoffManager } from './managers/backoff-manager.ts'
export {
  type ExponentialBackoffOptions,
  exponentialBackoffManager,
} from './managers/exponential-backoff-manager.ts'
export {
  type JitteredBackoffOptions,
  jitteredBackoffManager,
} from './managers/jittered-backoff-manager.ts'
export { type PollOptions, pollUntil } from './poll-until.ts'
export type { Random } from './random.ts'
export {
  type ForeverOptions,
  forever,
  type JitterUntilOptions,
  jitterUntil,
  nonSlidingUntil,
  type UntilOptions,
  until,
} from './until.ts'
