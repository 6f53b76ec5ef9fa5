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
  type AddOutcome,
  type BucketRow,
  type CancelOutcome,
  type Capabilities,
  type Clock,
  type CodeCounts,
  channelName,
  type Dedupe,
  type Depth,
  type Driver,
  type DueReason,
  durationBoundsMs,
  type EpochMs,
  type ErrorCode,
  type FailedRun,
  type FinishOutcome,
  type ForgetOutcome,
  type HistoryStep,
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
  type WorkCounts,
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
export type { Logger } from './driver/logger.ts'
export type { AdaptOptions } from './foreign/adapted-queue.ts'
export type { ForeignQueue } from './foreign/foreign-queue.ts'
export type { DoneOptions, Held } from './held/held.ts'
export type {
  Condition,
  Estimate,
  Explanation,
  FailedRunInfo,
  HistoryRange,
  HolderInfo,
  Inspect,
  KeyInfo,
  KeyPage,
  LastError,
  ListOptions,
  QueueCounts,
  QueueHistory,
  ReasonCode,
  RetryArithmetic,
} from './inspect/inspect.ts'
export { inspectStore } from './inspect/inspect-store.ts'
export type {
  BulkOptions,
  BulkResult,
  KeyFilter,
  Selection,
  SelectionCount,
} from './inspect/selection.ts'
export type {
  InspectStoreOptions,
  OperatorAsk,
  StoreInspection,
} from './inspect/store-inspection.ts'
export {
  isGone,
  judgeQueue,
  type QueueJudgement,
  type QueueSigns,
  type Severity,
  severities,
  urgencies,
} from './judge/judge-queue.ts'
export { type SeveritySince, severitySince } from './judge/severity-since.ts'
export { isCapped, type WorkRates } from './judge/work-rates.ts'
export { createQueue } from './queue/create-queue.ts'
export { createDelayingQueue, type WrapOptions } from './queue/delaying-queue.ts'
export type { JsonChecked, QueueOptions } from './queue/options.ts'
export type {
  AddAfterOptions,
  AddOptions,
  CloseOptions,
  DelayingQueue,
  Queue,
  QueueCapabilities,
  RateLimitingQueue,
  WaitOptions,
} from './queue/queue.ts'
export { createRateLimitingQueue, type WrapLimitedOptions } from './queue/rate-limiting-queue.ts'
export type { SchemaIssue, SchemaResult, StandardSchema } from './queue/schema.ts'
export type { DatabaseNow, Within, WithinLater, WithinNow } from './queue/within.ts'
export { type Resync, type ResyncList, type ResyncOptions, resync } from './schedule/resync.ts'
export { createWorker } from './worker/create-worker.ts'
export {
  type Closes,
  type StopOnSignalsOptions,
  type Stoppable,
  type Stops,
  stopOnSignals,
} from './worker/stop-on-signals.ts'
export { TerminalError } from './worker/terminal-error.ts'
export {
  type Handler,
  type HandlerContext,
  type HandlerResult,
  lowPriority,
  type OnExhausted,
  type StopOptions,
  type Worker,
  type WorkerOptions,
} from './worker/worker.ts'
export type { HealthReason, WorkerHealth } from './worker/worker-health.ts'
