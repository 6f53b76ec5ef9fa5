// This folder is the inspection of queues and whole stores, and the operations on their keys.

import type {
  DueReason,
  EpochMs,
  FailedRun,
  ForgetOutcome,
  HistoryStep,
  KeyStateWord,
  OperateOutcome,
  WorkerRow,
} from '@sluice/core'
import type { KeyFilter, Selection } from './selection.ts'

/** The stored parts of the error of a failed run. */
export interface LastError {
  readonly name: string
  readonly message: string
  readonly code?: string | undefined
  /** Only with `errorStacks`. */
  readonly stack?: string | undefined
  /** The delay that the error asked for, which replaced that of the limiter: see `Held.retry`. */
  readonly retryAfterMs?: number | undefined
}

/** The holder of a key. */
export interface HolderInfo {
  readonly holder: string | undefined
  readonly token: number
  /** When the lease expires; absent if it never does. */
  readonly leaseUntil?: EpochMs
  /** When the key was added again while it was held; absent if it was not. */
  readonly dirtySince?: EpochMs
}

/** One key with everything that is stored of it. */
export interface KeyInfo {
  readonly key: string
  readonly state: KeyStateWord
  /** In a damaged store, a text that is not JSON is returned as it is stored, and one that was lost as `''`. */
  readonly item: unknown
  readonly priority: number
  /** When the pending or current run was first added. */
  readonly askedAt?: EpochMs
  /** When the next run is due, and why then; absent if none is pending. */
  readonly dueAt?: EpochMs
  readonly why?: DueReason
  /** A second promise; see `dedupe`. */
  readonly laterAt?: EpochMs
  /** Its position among the ready keys of its priority. */
  readonly readyAt?: EpochMs
  readonly failures: number
  /**
   * When it failed last, or its holder was found to have vanished; absent if it has no failures.
   */
  readonly failedAt?: EpochMs
  readonly crashes: number
  readonly parked: boolean
  readonly held?: HolderInfo
  readonly lastError?: LastError
}

/** How many keys are in each state. Each key is counted once. */
export type QueueCounts = Readonly<Record<KeyStateWord, number>> & {
  /** True if counting stopped at the cap: the counts are lower bounds then. */
  readonly capped: boolean
  readonly paused: boolean
  /** Since when the key is ready that has been so longest; absent if none is. */
  readonly oldestReadyAt?: EpochMs
  /**
   * When the last lease of the held keys ends, or ended: no process holds a key after that. Absent if
   * no key is held, or one without a lease.
   */
  readonly heldUntil?: EpochMs
}

/** How far back a history goes: in steps of 10 seconds, a minute, or 10 minutes. */
export type HistoryRange = '5m' | '1h' | '24h'

/** The work of the workers of a queue, as they reported it with their heartbeats. */
export interface QueueHistory {
  /** The store's time. */
  readonly now: EpochMs
  readonly stepMs: number
  /**
   * Oldest first. A step in which no worker reported anything is missing: what happened then is
   * unknown. The last one is not over yet.
   */
  readonly steps: readonly HistoryStep[]
}

/** A failed run, with the parts of its error that are kept. */
export interface FailedRunInfo extends Omit<FailedRun, 'lastError'> {
  readonly error: LastError
}

/** Which keys to list. */
export interface ListOptions {
  /** Only keys in this state. Default: in any. */
  readonly state?: KeyStateWord | undefined
  /** Only keys that start with this. Default: all. */
  readonly prefix?: string | undefined
  /** Where the page before ended. Default: the beginning. */
  readonly cursor?: string | undefined
  /** Default 100, at most 1000. */
  readonly limit?: number | undefined
}

/** A page of keys, in the order of the keys. */
export interface KeyPage {
  readonly keys: readonly KeyInfo[]
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string
}

/** Why a key is not running: stable words. */
export type ReasonCode =
  | 'NOT_FOUND'
  | 'QUEUE_PAUSED'
  | 'QUEUE_SHUTTING_DOWN'
  | 'NO_WORKERS'
  | 'WORKERS_BUSY'
  | 'PARKED'
  | 'NOTHING_PENDING'
  | 'PROCESSING'
  | 'LEASE_EXPIRED_AWAITING_REAP'
  | 'REQUEUED_AFTER_DONE'
  | 'DELAYED'
  | 'BACKOFF_ITEM'
  | 'BACKOFF_BUCKET'
  | 'WAITING_TURN'

/** One thing that must be so for a key to run. */
export interface Condition {
  readonly code: ReasonCode
  /** Whether it is met; `null` if that is unknown, or does not matter yet. */
  readonly ok: boolean | null
  /** When it is met automatically, if ever. */
  readonly until?: EpochMs
  /** The evidence, as a short sentence. */
  readonly evidence: string
}

/** How the delay of a key came about, or would if the run that is under way failed. */
export interface RetryArithmetic {
  /** How many runs have failed. */
  readonly failures: number
  /**
   * How long the failures of the key alone have it wait; absent if its limiter is not known, or if the
   * error of the run decided.
   */
  readonly perKeyMs?: number
  /** How long a bucket has it wait, if that is longer. */
  readonly bucketMs?: number
  /** In words, such as `5 ms x 2^8 = 1.28 s`. */
  readonly words: string
}

/** When a key is likely to be taken. */
export interface Estimate {
  readonly startAt: EpochMs
  /**
   * `high`: a worker is free and nothing is before it. `medium`, `low`: reckoned from how long runs
   * have taken so far, and from the keys that are before it now; keys that get before it later are
   * not known.
   */
  readonly confidence: 'high' | 'medium' | 'low'
}

/** Why a key is not running, or that it is. */
export interface Explanation {
  readonly key: string
  readonly state: KeyStateWord | 'absent'
  /** The key as it was when it was explained; absent if it is not stored. */
  readonly info?: KeyInfo
  /** The first condition that is not met; absent if the key only waits for a worker to take it. */
  readonly blockedBy?: ReasonCode
  readonly conditions: readonly Condition[]
  /** The next thing that happens to the key automatically, and when. */
  readonly next?: { readonly at: EpochMs; readonly to: KeyStateWord }
  readonly retry?: RetryArithmetic
  /** Absent where it is unknown. */
  readonly estimate?: Estimate
  readonly inspectedAt: EpochMs
}

/**
 * Inspects and operates a queue. Acts on the store, so that its answers and its changes hold for all
 * processes.
 */
export interface Inspect {
  /** Counts keys by state. Visits no more than about `cap` (10,000 unless given) of each. */
  counts(options?: { readonly cap?: number | undefined }): Promise<QueueCounts>
  /** Lists keys, page by page. */
  list(options?: ListOptions): Promise<KeyPage>
  /** Reads one key. */
  get(key: string): Promise<KeyInfo | undefined>
  /** Says why a key is not running. */
  explain(key: string): Promise<Explanation>
  /**
   * The workers that were seen recently, the newest first; empty where the driver keeps no list. One whose
   * `concurrency` is 0 has stopped. `stats` are as of its last heartbeat.
   */
  workers(): Promise<readonly WorkerRow[]>
  /**
   * The work of the last five minutes (default), hour or day, and how many keys there
   * were. Empty where the driver keeps no history: see `capabilities.history`.
   */
  history(options?: { readonly range?: HistoryRange | undefined }): Promise<QueueHistory>
  /**
   * Failed runs of the last day, newest first: a bounded number, no more than 20 with the same
   * code. They outlive their keys. Empty where the driver keeps no history.
   */
  failedRuns(): Promise<readonly FailedRunInfo[]>
  /** How long the key that has been ready longest has waited; `undefined` if none is ready. */
  oldest(): Promise<{ readonly readyAt: EpochMs; readonly ageMs: number } | undefined>

  /** Stops handing out keys, in all processes. Adds are still accepted, and held keys continue. */
  pause(): Promise<OperateOutcome>
  /** Ends a pause, in all processes. */
  resume(): Promise<OperateOutcome>
  /** Parks a key; a held one when it is given back. */
  park(key: string): Promise<OperateOutcome>
  /** Puts a parked key back in line; with `forget`, failures and crashes start from zero. */
  unpark(key: string, options?: { readonly forget?: boolean | undefined }): Promise<OperateOutcome>
  /** Ends the delay or the back-off of a key. */
  runNow(key: string): Promise<OperateOutcome>
  /**
   * Takes a held key from its holder, for example from a worker that hangs: the run is put back in
   * line as if its holder had released it, and counts as no failure. Fenced: whatever the former
   * holder does afterwards with this claim is `lost`. With `token`, only if the key is still held
   * under that token. The former holder is not stopped: it notices at its next renewal.
   *
   * `unchanged`: the key is not held, or not under that token.
   */
  release(key: string, options?: { readonly token?: number | undefined }): Promise<OperateOutcome>
  /**
   * Resets the failures and crashes of a key; its pending runs stay. The counts of a limiter
   * without a plan stay, too.
   */
  forget(key: string): Promise<ForgetOutcome>
  /** Deletes a key with its pending runs and counts. A holder keeps holding it. */
  remove(key: string): Promise<OperateOutcome>
  /** The keys that a filter finds, to count them and to do something to all of them. */
  select(filter: KeyFilter): Selection
  /**
   * Removes every key, and says how many. A held key stays with its holder, and loses its next run
   * and its counts; one that has neither is not counted. A key that is added meanwhile stays. Takes
   * as long as that takes, whatever `timeoutMs` is.
   */
  purge(): Promise<number>
}
