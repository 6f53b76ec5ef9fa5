/**
 * `@sluice/core/driver`: everything that the author of a driver needs.
 *
 * The contract ({@link Driver} and the types of its verbs), the transitions of a key, the token
 * buckets of limiter plans, the store's time, the order of keys, and the limits that all drivers
 * share. What a driver has to do with them is described in docs/guides/writing-a-driver.md.
 *
 * @packageDocumentation
 */
import * as transitions from '../transitions/transitions.ts'

export { isPromise } from '../checks/is-promise.ts'
export { SluiceError, SluiceRangeError, SluiceTypeError } from '../errors.ts'
export { compareKeys } from '../keys/compare-keys.ts'
export type { BucketState } from '../limiter/bucket.ts'
export { bucketsOf, type LimiterPlan, type PlanBucket, perKeyDelay } from '../limiter/plan.ts'
export { leaseEndsMax, priorityMax, priorityMin, workerMsMax } from '../limits.ts'
export { packageError } from '../package-error.ts'
export type { Clock, EpochMs } from '../time/clock.ts'
export { nextTurn } from '../time/next-turn.ts'
export { RisingTime, risingTimeOf } from '../time/rising-time.ts'
export { systemClock } from '../time/system-clock.ts'
export { emptyKeyState, type KeyState, never, noToken } from '../transitions/key-state.ts'
export type { Ask, AskOptions, AskReply, Failure } from './ask.ts'
export {
  type Again,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  claimNumber,
  type ExpireOptions,
  type Finish,
  type FinishReply,
  type Lease,
  type RenewReply,
} from './claim.ts'
export { addCodes, type CodeCounts, historyCodesMax } from './code-counts.ts'
export type { DirectClaim, DirectQueue } from './direct-queue.ts'
export {
  type Awaitable,
  type Capabilities,
  contractVersion,
  type Driver,
  type DriverTransaction,
  type OpenOptions,
  type Operate,
  type Transfer,
} from './driver.ts'
export { type Environment, systemEnvironment } from './environment.ts'
export {
  type Depth,
  depthOf,
  type FailedRun,
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  type HistoryReply,
  type HistoryResolution,
  type HistoryStep,
  historyDepthCap,
  historyResolutions,
  RecordedHistory,
  stepStart,
  stepsGoneAt,
  type WorkCounts,
  type WorkRecord,
} from './history.ts'
export type { BucketRow, Counts, KeyRow, ListReply, ListRequest } from './inspection.ts'
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
} from './outcomes.ts'
export type { TickReply, TickRequest } from './tick.ts'
export { TokenBuckets } from './token-buckets.ts'
export {
  isUnchanged,
  type TransferMember,
  type TransferRow,
  transferMembers,
  transferRow,
} from './transfer-row.ts'
export type { WorkerInfo, WorkerRow, WorkerStats } from './worker-row.ts'
export { transitions }
