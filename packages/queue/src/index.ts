/**
 * Work queues as in Kubernetes' client-go, made durable. Begin with `createRateLimitingQueue`, or with
 * `createDelayingQueue` or `createQueue` where its verbs are enough; `createWorker` runs a handler for
 * each key, and `stopOnSignals` ends workers and queues. A queue keeps its keys in memory unless it gets a
 * driver, such as `sqliteDriver` of `@sluice/sqlite` or `postgresDriver` of `@sluice/postgres`.
 * `inspectStore` looks into a store without a queue. Errors are `SluiceError` with a stable `code`.
 * `sluice/testing` has a clock that tests step.
 *
 * @packageDocumentation
 */

export {
  Backoff,
  type BackoffManager,
  type BackoffOptions,
  type BackoffUntilOptions,
  backoffUntil,
  type DelayFn,
  exponentialBackoff,
  exponentialBackoffManager,
  forever,
  isInterrupted,
  jitter,
  jitteredBackoffManager,
  jitterUntil,
  nonSlidingUntil,
  pollUntil,
  until,
} from '@sluice/backoff'
export {
  type AddOutcome,
  type BucketRow,
  type CancelOutcome,
  type Capabilities,
  type Clock,
  channelName,
  type Dedupe,
  type Driver,
  type DueReason,
  durationBoundsMs,
  type EpochMs,
  type ErrorCode,
  type FinishOutcome,
  type ForgetOutcome,
  type JsonSafe,
  type KeyOf,
  type KeyStateWord,
  keyStateWords,
  type Limiter,
  type LimiterPlan,
  type OperateOutcome,
  SluiceError,
  type SluiceEvent,
  SluiceRangeError,
  SluiceTypeError,
  systemClock,
  type WorkerInfo,
  type WorkerRow,
  type WorkerStats,
} from '@sluice/core'
export {
  defaultControllerLimiter,
  defaultItemLimiter,
  every,
  exponential,
  fastSlow,
  jittered,
  maxOf,
  TokenBucket,
  tokenBucket,
  withMaxWait,
} from '@sluice/limiters'
export { type MemoryDriverOptions, memoryDriver, type ReadyOrder } from '@sluice/memory'
export type { AdaptOptions } from './adapted-queue.ts'
export { createDelayingQueue, type WrapOptions } from './create-delaying-queue.ts'
export { createQueue } from './create-queue.ts'
export { createRateLimitingQueue, type WrapLimitedOptions } from './create-rate-limiting-queue.ts'
export { createWorker } from './create-worker.ts'
export { exportQueue } from './export.ts'
export type { ForeignQueue } from './foreign-queue.ts'
export type { DoneOptions, Held } from './held.ts'
export { type ImportResult, importQueue } from './import.ts'
export type {
  Condition,
  Estimate,
  Explanation,
  HolderInfo,
  Inspect,
  KeyInfo,
  KeyPage,
  LastError,
  ListOptions,
  QueueCounts,
  ReasonCode,
  RetryArithmetic,
} from './inspect.ts'
export { inspectStore } from './inspect-store.ts'
export { type MigratedQueue, type MigrateOptions, migrate } from './migrate.ts'
export type { JsonChecked, QueueOptions } from './options.ts'
export type {
  AddAfterOptions,
  AddOptions,
  CloseOptions,
  DelayingQueue,
  Queue,
  QueueCapabilities,
  RateLimitingQueue,
  WaitOptions,
} from './queue.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from './schema.ts'
export type { BulkOptions, BulkResult, KeyFilter, Selection, SelectionCount } from './selection.ts'
export {
  type Closes,
  type StopOnSignalsOptions,
  type Stoppable,
  type Stops,
  stopOnSignals,
} from './stop-on-signals.ts'
export type { InspectStoreOptions, OperatorAsk, StoreInspection } from './store-inspection.ts'
export type { DatabaseNow, Within, WithinLater, WithinNow } from './within.ts'
export {
  type Handler,
  type HandlerContext,
  type HandlerResult,
  lowPriority,
  type OnExhausted,
  type StopOptions,
  TerminalError,
  type Worker,
  type WorkerOptions,
} from './worker.ts'
export type { HealthReason, WorkerHealth } from './worker-health.ts'
