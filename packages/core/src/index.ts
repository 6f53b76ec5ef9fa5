/**
 * The parts that all packages of Sluice share. The driver contract is `Driver`, with its requests
 * and outcomes; what a verb does to one key is in `transitions` of `@sluice/core/driver`. Keys and
 * items are checked and encoded here, errors are `SluiceError` with a stable `code`, and time comes
 * from a `Clock`. Tracing events are published on `sluiceChannel`. Programs that use queues need
 * the package `sluice` only; authors of drivers begin with `Driver`, and test with
 * `@sluice/conformance`. `@sluice/core/testing` has the fake clock.
 *
 * @packageDocumentation
 */

export { callListener, safeListener } from './call-listener.ts'
export {
  checkBoolean,
  checkDelay,
  checkFunction,
  checkNumber,
  checkObject,
  checkOneOf,
  checkPriority,
  checkSignal,
  checkString,
  closest,
  type NumberLimits,
  type StringLimits,
} from './checks/check.ts'
export { describeValue, quoted, shortened } from './checks/describe-value.ts'
export { isPromise } from './checks/is-promise.ts'
export type { Ask, AskOptions, AskReply, Failure } from './driver/ask.ts'
export type {
  Again,
  Claim,
  ClaimReply,
  ClaimRequest,
  ExpireOptions,
  Finish,
  FinishReply,
  Lease,
  RenewReply,
} from './driver/claim.ts'
export { addCodes, type CodeCounts, historyCodesMax } from './driver/code-counts.ts'
export type { DirectClaim, DirectQueue } from './driver/direct-queue.ts'
export {
  type Awaitable,
  type Capabilities,
  contractVersion,
  type Driver,
  type DriverTransaction,
  type OpenOptions,
  type Operate,
  type Transfer,
} from './driver/driver.ts'
export type { Finding } from './driver/finding.ts'
export type {
  Depth,
  FailedRun,
  HistoryReply,
  HistoryResolution,
  HistoryStep,
  WorkCounts,
  WorkRecord,
} from './driver/history.ts'
export type { BucketRow, Counts, KeyRow, ListReply, ListRequest } from './driver/inspection.ts'
export {
  type AddOutcome,
  type CancelOutcome,
  type Dedupe,
  type DropOutcome,
  type DueReason,
  type ExpireOutcome,
  type FinishOutcome,
  type ForgetOutcome,
  type ImportOutcome,
  type KeyStateWord,
  keyStateWords,
  type OperateOutcome,
  type RenewOutcome,
} from './driver/outcomes.ts'
export type { TickReply, TickRequest } from './driver/tick.ts'
export type { TransferMember, TransferRow } from './driver/transfer-row.ts'
export {
  durationBoundsMs,
  type WorkerInfo,
  type WorkerRow,
  type WorkerStats,
} from './driver/worker-row.ts'
export {
  type ErrorCode,
  type ErrorDetails,
  SluiceError,
  SluiceRangeError,
  SluiceTypeError,
} from './errors.ts'
export {
  type ActedRequest,
  channelName,
  type RunRequest,
  type RunResult,
  type SluiceEvent,
  sluiceChannel,
  type TracedVerb,
} from './events.ts'
export { canonicalJson } from './keys/canonical-json.ts'
export {
  decodeItem,
  type EncodedItem,
  type EncodeOptions,
  encodeItem,
  isOwnKey,
  type KeyOf,
  keyOfItem,
} from './keys/item.ts'
export type { JsonSafe, JsonValue, NotJson } from './keys/json-safe.ts'
export { bookNamePrefix, checkKey, checkQueueName, type QueueNameRules } from './keys/key.ts'
export { alteredNumber, parseJson } from './keys/parse-json.ts'
export {
  type BucketRate,
  type BucketReservation,
  type BucketState,
  msForTokens,
  reserveToken,
  reserveTokens,
  tokensAt,
  tokensDuring,
} from './limiter/bucket.ts'
export { lastSeenDedupe, lastSeenPlan } from './limiter/last-seen.ts'
export { checkLimiter, type Limiter, type PlannedLimiter } from './limiter/limiter.ts'
export { clampNs, jitteredNs, msOfNs, nsOfMs } from './limiter/nanoseconds.ts'
export {
  type BucketPlan,
  bucketsOf,
  checkPlan,
  type ExponentialPlan,
  type FastSlowPlan,
  type JitteredPlan,
  type LimiterPlan,
  type MaxOfPlan,
  type MaxWaitPlan,
  nameOwnBucket,
  type PlanBucket,
  perKeyDelay,
  planDelay,
} from './limiter/plan.ts'
export {
  addSoonKeysMax,
  batchKeysMax,
  concurrencyMax,
  crashesMaxDefault,
  delayMsMax,
  errorBytesMax,
  failuresExpireMsDefault,
  failuresMax,
  graceMsDefault,
  heartbeatMs,
  itemBytesDefault,
  itemBytesMax,
  jsonDepthMax,
  keyBytesMax,
  leaseEndsMax,
  leaseMsDefault,
  leaseMsMax,
  leaseMsMin,
  limiterFallbackMs,
  planPartsMax,
  priorityDefault,
  priorityMax,
  priorityMin,
  queueNameBytesMax,
  timeoutMsDefault,
  workerMsMax,
} from './limits.ts'
export type { Clock, EpochMs, Ticker, Timer } from './time/clock.ts'
export { nextTurn } from './time/next-turn.ts'
export { RisingTime } from './time/rising-time.ts'
export { systemClock } from './time/system-clock.ts'
export { callerTrace, type TraceRequest, traceChannel } from './trace-channel.ts'
export { emptyKeyState, type KeyState, never, noToken } from './transitions/key-state.ts'
export { isTrace, mergeTraces } from './transitions/trace.ts'
