import type { Clock } from '../time/clock.ts'
import type { Ask, AskOptions, AskReply, Failure } from './ask.ts'
import type {
  Claim,
  ClaimReply,
  ClaimRequest,
  ExpireOptions,
  Finish,
  FinishReply,
  Lease,
  RenewReply,
} from './claim.ts'
import type { DirectQueue } from './direct-queue.ts'
import type { FailedRun, HistoryReply } from './history.ts'
import type { BucketRow, Counts, ListReply, ListRequest } from './inspection.ts'
import type {
  CancelOutcome,
  DropOutcome,
  ExpireOutcome,
  ForgetOutcome,
  ImportOutcome,
  OperateOutcome,
} from './outcomes.ts'
import type { TickReply, TickRequest } from './tick.ts'
import type { TransferRow } from './transfer-row.ts'
import type { WorkerRow } from './worker-row.ts'

/**
 * The version of this contract. A queue opens only a driver that was written for the same one.
 * It rises when a required verb changes its meaning; new optional verbs do not raise it.
 */
export const contractVersion = 1

/** A reply that a driver gives at once or later. Drivers that never wait reply synchronously. */
export type Awaitable<T> = T | Promise<T>

/**
 * The abilities of a driver, as data: the queue, the conformance suite and the documentation read the
 * same flags. A driver never does less than it declares.
 */
export interface Capabilities {
  /** Acknowledged writes survive the end of the process, however it ends. */
  readonly durable: boolean
  /** Several processes can open the same store concurrently. */
  readonly shared: boolean
  /**
   * It uses the clock that is passed to `open`, as every driver does that is not a remote service.
   */
  readonly clock: boolean
  /**
   * The order in which due keys of equal priority are claimed. `strict`: by (`readyAt`, `seq`),
   * always. `per-producer`: so among the keys that one producer added with awaited or batched
   * calls. `custom`: an order of the caller's, which decides about priorities, too.
   */
  readonly order: 'strict' | 'per-producer' | 'custom'
  /**
   * The effect of a step of the wall clock on the store's time, which never goes back in any store.
   * `monotonic`: none. `wall`: the time follows a step forward, so that delays end earlier by it;
   * after a step back, it continues from where it was.
   */
  readonly time: 'monotonic' | 'wall'
  /**
   * Where tokens rise: over all queues of the store, or only in each queue. A driver that spreads its
   * queues over several servers has no counter that all of them share.
   */
  readonly tokens: 'store' | 'queue'
  /**
   * Queues can share token buckets. False: the only bucket that a plan may name is the queue's own,
   * `queue:` and its name; a driver rejects others with `ERR_INVALID_INPUT`.
   */
  readonly sharedBuckets: boolean
  /** It has `watch`. */
  readonly watch: boolean
  /** A second driver object on the same store sees the same keys (the suite calls it a `peer`). */
  readonly peers: boolean
  /** It has `operate`. */
  readonly operate: boolean
  /** It has `queues`. */
  readonly queues: boolean
  /** It has `workers`, and `tick` registers the worker it is given. */
  readonly workers: boolean
  /**
   * It has `history` and `failedRuns`, and `tick` adds the record that it is given. Implies
   * `workers`.
   */
  readonly history: boolean
  /** It has `buckets`. Charging buckets is required of every driver; listing them is not. */
  readonly buckets: boolean
  /**
   * It has `transact`: `async` if the verbs in a transaction return promises, `sync` if they return
   * replies and throw.
   */
  readonly transact: false | 'sync' | 'async'
}

/** The options of {@link Driver.open}. */
export interface OpenOptions {
  /**
   * The clock of every verb. Absent: the store's own clock, so that the clocks of the processes
   * need not agree.
   */
  readonly clock?: Clock | undefined
}

/** The verbs of an operator. Keys are handled one by one; unknown keys are `missing`. */
export interface Operate {
  /** Claims give no key until the queue is resumed. Adds and held keys are not affected. */
  pause(queue: string): Awaitable<OperateOutcome>
  /** Ends a pause, and wakes every waiting process if the driver has `watch`. */
  resume(queue: string): Awaitable<OperateOutcome>
  /**
   * Parks keys: they are not claimed until they are unparked. A held key is parked when it is
   * finished.
   */
  park(queue: string, keys: readonly string[]): Awaitable<readonly OperateOutcome[]>
  /**
   * The opposite of park; with `forget`, failures and crashes start from zero. Changes nothing of a
   * key that is not parked.
   */
  unpark(
    queue: string,
    keys: readonly string[],
    options: { readonly forget: boolean },
  ): Awaitable<readonly OperateOutcome[]>
  /** Ends the delay or back-off of keys. */
  runNow(queue: string, keys: readonly string[]): Awaitable<readonly OperateOutcome[]>
  /** Removes the pending runs, counters and parked marks of keys. Held keys stay held. */
  remove(queue: string, keys: readonly string[]): Awaitable<readonly OperateOutcome[]>
  /** Removes every key that a queue has when it begins, as `remove` does; returns how many it changed. */
  purge(queue: string): Awaitable<number>
}

/**
 * The verbs that move keys between stores. `list` reads the keys; `transferRow` turns a listed key
 * into a row. Every verb is safe to repeat. Instants are in the store's time: the caller subtracts
 * `ahead` of the source store and adds that of the destination.
 */
export interface Transfer {
  /**
   * Merges rows into the stored keys, each by `transitions.mergeRow`. A key that is new to the
   * store keeps its times and its `seq`; keys that are added later come after it. A stored item
   * stays.
   */
  importRows(queue: string, rows: readonly TransferRow[]): Awaitable<readonly ImportOutcome[]>
  /** Deletes the keys that are not held and exactly as they were listed. */
  dropRows(queue: string, rows: readonly TransferRow[]): Awaitable<readonly DropOutcome[]>
  /** Imports the buckets that the store does not have. */
  importBuckets(buckets: readonly BucketRow[]): Awaitable<readonly ImportOutcome[]>
  /** The greatest token that was ever handed out, in any queue of the store. */
  lastToken(): Awaitable<number>
  /** Hands out only greater tokens than `floor` from now on. */
  raiseTokens(floor: number): Awaitable<void>
}

/** The verbs that take part in a transaction of the caller. */
export interface DriverTransaction {
  add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Awaitable<readonly (AskReply | Failure)[]>
  /** A lost lease is thrown (`ERR_LEASE_LOST`), so that the caller's transaction fails with it. */
  finish(
    queue: string,
    finishes: readonly Finish[],
    options: AskOptions,
  ): Awaitable<readonly (FinishReply | Failure)[]>
}

/**
 * A store of keys. The conformance suite tests its promises; the queue above it does the rest.
 *
 * Every verb is atomic, starts no timer, does not retry and decides no policy. Anything that can
 * happen in a correct program is an outcome, in the order of the arguments; a rejection means that
 * the store failed. `ERR_STORE`, `ERR_STORE_BUSY` and `ERR_STORE_FULL` mean that nothing was
 * changed, `ERR_UNKNOWN_OUTCOME` that the verb may have taken effect. The caller has checked the
 * arguments: a batch is not empty, has at most `batchKeysMax` entries, and contains no key twice.
 * It does not change them before the verb has answered; the driver never changes them.
 *
 * Queues share nothing but buckets of the same name.
 */
export interface Driver {
  /** The kind of store, for messages: `memory`, `sqlite`, `postgres`. */
  readonly name: string
  /** The {@link contractVersion} it was written for. */
  readonly contractVersion: number
  readonly capabilities: Capabilities
  /**
   * The most keys that one call should name, where fewer than `batchKeysMax` are better. Every verb
   * still accepts `batchKeysMax`.
   */
  readonly batchKeys?: number
  /**
   * The most bytes of items that one call should carry. Adds with more are cut into several calls; a
   * claim whose items reach it may return fewer keys than are due.
   */
  readonly batchBytes?: number
  /**
   * How many milliseconds the store's time is ahead of its wall clock, as of the last call; not 0
   * after a step of that clock. It is subtracted where an instant is shown. Absent: 0.
   */
  readonly ahead?: number

  /**
   * Opens the store. Called once before every other verb; after `close`, it may be called again.
   */
  open(options: OpenOptions): Awaitable<void>

  /** Releases everything that keeps the process alive. Held keys stay held. */
  close(): Awaitable<void>

  /**
   * Adds keys.
   *
   * Afterwards every key has a pending run at or before the requested time, by the rules of the
   * transition table. The asks of a batch are ordered as in the batch. The run of an add that races
   * a claim is handed out by that claim or by a later one; an add that races a finish is never
   * lost.
   */
  add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Awaitable<readonly (AskReply | Failure)[]>

  /**
   * Removes the pending runs of keys. Held keys stay held. Keys that another transaction has locked fail
   * alone, here as in `add` and `finish`.
   */
  cancel(queue: string, keys: readonly string[]): Awaitable<readonly (CancelOutcome | Failure)[]>

  /**
   * Hands out due keys under a lease.
   *
   * Claims keys that are due and neither held nor parked, of a queue that is not paused: by
   * priority, then `readyAt`, then `seq`. Each gets a token greater than all before it, in the
   * store or in the queue (capability `tokens`). No key is handed out twice, however many callers
   * claim concurrently. A key that has crashed twice is handed out alone: it ends the batch before
   * it, or is the whole batch. Keys that another transaction has locked are skipped. Expired leases are
   * reported; their keys are not claimed.
   */
  claim(queue: string, request: ClaimRequest): Awaitable<ClaimReply>

  /**
   * The claims of this `claimId` that are still held, for a caller that has lost the reply to its
   * claim. Required of drivers that can fail with `ERR_UNKNOWN_OUTCOME`.
   */
  adopt?(queue: string, claimId: string): Awaitable<readonly Claim[]>

  /**
   * Gives back keys whose leases have expired, and stores the error it is given as their last one.
   * Does nothing to a key whose token has changed, or whose lease has not expired by the store's
   * time.
   */
  expire(
    queue: string,
    leases: readonly Lease[],
    options: ExpireOptions,
  ): Awaitable<readonly (ExpireOutcome | Failure)[]>

  /**
   * Extends leases to `leaseMs` from now; a longer lease stays as it is. Never waits for a row that
   * another transaction has locked: the reply for it is a {@link Failure} (`ERR_STORE_BUSY`).
   */
  renew(
    queue: string,
    leases: readonly Lease[],
    leaseMs: number,
  ): Awaitable<readonly (RenewReply | Failure)[]>

  /**
   * Gives back held keys. A key is released if the token is current, and not changed otherwise
   * (`lost`). A token stays valid after its lease has expired until a claim or an `expire` replaces
   * it. After any outcome but `lost` the token holds nothing.
   */
  finish(
    queue: string,
    finishes: readonly Finish[],
    options: AskOptions,
  ): Awaitable<readonly (FinishReply | Failure)[]>

  /** Sets the failures and crashes of keys to zero, whether they are held or not. Locked keys fail alone. */
  forget(queue: string, keys: readonly string[]): Awaitable<readonly (ForgetOutcome | Failure)[]>

  /**
   * The heartbeat of a waiting queue: registers the worker, returns when to look again, reports
   * expired leases, and deletes a bounded number of stale rows. One statement. A registration deletes
   * the workers of the queue that have not ticked for longer than `workerMsMax`.
   */
  tick(queue: string, request: TickRequest): Awaitable<TickReply>

  /** Counts keys by state, reading no more than about `cap` keys of each; `cap` is finite, and at least 1. */
  counts(queue: string, options: { readonly cap: number }): Awaitable<Counts>

  /** Lists keys. A page costs no more for a million keys than for a thousand. */
  list(queue: string, request: ListRequest): Awaitable<ListReply>

  /**
   * Calls `onWake` soon after a key may have become claimable through any process, with the queue's
   * name if it is known: in the queues of which a `claim` or `tick` of this driver has said, since it
   * was last called for them, that there is nothing to do yet. A hint: the call may come late, twice,
   * without a reason, or not at all.
   * Returns a function that stops it.
   */
  watch?(onWake: (queue: string | undefined) => void): Awaitable<() => Awaitable<void>>

  readonly operate?: Operate

  /** No capability flag declares it: it is there or not. */
  readonly transfer?: Transfer

  /** The names of all queues that have keys, are paused, or have a worker that ticked within a day. */
  queues?(): Awaitable<readonly string[]>

  /** The workers that have ticked on a queue within `withinMs`. */
  workers?(queue: string, withinMs: number): Awaitable<readonly WorkerRow[]>

  /**
   * The work of the workers of a queue, step by step: the resolution of `historyResolutions`
   * with this length. Bounded, whatever happens in the queue; it outlives keys and workers.
   */
  history?(queue: string, stepMs: number): Awaitable<HistoryReply>

  /**
   * The failed runs of a queue that are kept, newest first: those of the last day, no more than
   * `failedRunsOfCodeMax` of a code and `failedRunsMax` in all. They outlive their keys.
   */
  failedRuns?(queue: string): Awaitable<readonly FailedRun[]>

  /** All buckets. */
  buckets?(): Awaitable<readonly BucketRow[]>

  /** The verbs inside a transaction that the caller has begun and will end. */
  transact?(transaction: unknown): DriverTransaction

  /**
   * The direct queue of a driver in this process: the frequent verbs for one key at a time, without
   * arrays and promises. They mean exactly what the verbs above mean.
   */
  direct?(queue: string): DirectQueue
}
