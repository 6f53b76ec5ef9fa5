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

/** An answer that a driver may give at once or later. Drivers that never wait answer at once. */
export type Awaitable<T> = T | Promise<T>

/**
 * What a driver can do, as data: the queue, the conformance suite and the documentation read the
 * same flags. A driver never does less than it declares.
 */
export interface Capabilities {
  /** What was acknowledged is still there after the process ended, however it ended. */
  readonly durable: boolean
  /** Several processes can open the same store at the same time. */
  readonly shared: boolean
  /** It obeys a clock handed to `open`. Every driver that is not a remote service does. */
  readonly clock: boolean
  /**
   * How keys of equal priority that are due come out. `strict`: by (`readyAt`, `seq`), always.
   * `per-producer`: so for what one producer added with awaited or batched calls. `custom`: as the
   * caller's own order says, priorities included.
   */
  readonly order: 'strict' | 'per-producer' | 'custom'
  /**
   * What a step of the wall clock does to the store's time, which never goes back in any store.
   * `monotonic`: nothing. `wall`: a step forward is followed, so that delays end early by it; after a
   * step back, time goes on from where it was.
   */
  readonly time: 'monotonic' | 'wall'
  /** It has `watch`. */
  readonly watch: boolean
  /** A second driver object on the same store sees the same keys (the suite asks for a `peer`). */
  readonly peers: boolean
  /** It has `operate`. */
  readonly operate: boolean
  /** It has `queues`. */
  readonly queues: boolean
  /** It has `workers`, and `tick` registers the worker it is given. */
  readonly workers: boolean
  /** It has `buckets`. Charging buckets is required of every driver; listing them is not. */
  readonly buckets: boolean
  /**
   * It has `transact`: `async` if the verbs in a transaction answer later, `sync` if they answer at
   * once and throw.
   */
  readonly transact: false | 'sync' | 'async'
}

/** What a driver is told when it is opened. */
export interface OpenOptions {
  /**
   * The clock that decides what "now" is in every verb. Absent: the store's own clock, so that
   * processes need not agree about the time.
   */
  readonly clock?: Clock
}

/** The verbs of an operator. Keys are handled one by one; unknown keys are `missing`. */
export interface Operate {
  /** Claims give nothing until the queue is resumed. Adds are taken, held keys go on. */
  pause(queue: string): Awaitable<OperateOutcome>
  /** Ends a pause and wakes every process that waits. */
  resume(queue: string): Awaitable<OperateOutcome>
  /** Sets keys aside. A held key is set aside when it is given back. */
  park(queue: string, keys: readonly string[]): Awaitable<readonly OperateOutcome[]>
  /** The opposite of park; with `forget`, failures and crashes start from zero. */
  unpark(
    queue: string,
    keys: readonly string[],
    options: { readonly forget: boolean },
  ): Awaitable<readonly OperateOutcome[]>
  /** Ends the delay or back-off of keys. */
  runNow(queue: string, keys: readonly string[]): Awaitable<readonly OperateOutcome[]>
  /** Forgets all that is owed to, counted for and parked of keys. The held half is not touched. */
  remove(queue: string, keys: readonly string[]): Awaitable<readonly OperateOutcome[]>
  /** Removes every key of a queue, as `remove` does; says how many. */
  purge(queue: string): Awaitable<number>
}

/**
 * The verbs that move keys between stores. `list` is the way out; `transferRow` makes a row of what
 * it gives. Every verb may be repeated. Instants are those of the store's time: the caller subtracts
 * `ahead` of the store that rows come from, and adds that of the store they go to.
 */
export interface Transfer {
  /**
   * Merges rows into what is stored, each by `transitions.mergeRow`. What is new to the store keeps
   * its times and its `seq`; later keys take their places behind it. An item that is there stays.
   */
  importRows(queue: string, rows: readonly TransferRow[]): Awaitable<readonly ImportOutcome[]>
  /** Takes out rows that nobody holds and that are exactly as they were listed. */
  dropRows(queue: string, rows: readonly TransferRow[]): Awaitable<readonly DropOutcome[]>
  /** Puts buckets in of which nothing is stored. */
  importBuckets(buckets: readonly BucketRow[]): Awaitable<readonly ImportOutcome[]>
  /** The greatest token that was ever given out, in the whole store. */
  lastToken(): Awaitable<number>
  /** Gives out only greater tokens than this from now on. */
  raiseTokens(floor: number): Awaitable<void>
}

/** The verbs that take part in a transaction of the caller's. */
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
 * A store of keys. What it promises is examined by the conformance suite; what it need not do is
 * done by the queue above it.
 *
 * Holds for every verb: it is atomic; it starts no timer, does not retry and decides no policy; what
 * can happen in a correct program is an outcome, in the order of the arguments, and a rejection
 * means that the store failed. `ERR_STORE`, `ERR_STORE_BUSY` and `ERR_STORE_FULL` say that nothing
 * was done, `ERR_UNKNOWN_OUTCOME` that it may have been. Arguments have been checked by the caller.
 * A batch is not empty, has at most `batchKeysMax` entries, and names no key twice.
 *
 * Queues share nothing but buckets of the same name.
 */
export interface Driver {
  /** What kind of store it is, for messages: `memory`, `sqlite`, `postgres`. */
  readonly name: string
  /** The {@link contractVersion} it was written for. */
  readonly contractVersion: number
  readonly capabilities: Capabilities
  /**
   * By how many milliseconds the store's time is ahead of its wall clock, as of the last call; it is
   * not 0 after a step of that clock. Subtracted where an instant is shown. Absent: 0.
   */
  readonly ahead?: number

  /**
   * Makes the store usable. Called once before every other verb; after `close`, it may be called
   * again.
   */
  open(options: OpenOptions): Awaitable<void>

  /** Lets go of everything that keeps the process alive. Held keys stay held. */
  close(): Awaitable<void>

  /**
   * Asks for runs.
   *
   * Afterwards every key is owed a run at or before the time it asked for, by the rules of the
   * transition table. Asks of one batch take their places in line in the order of the batch. An add
   * that races a claim is answered by that claim or by a later one; one that races a finish is
   * never lost.
   */
  add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Awaitable<readonly (AskReply | Failure)[]>

  /** Takes back what is owed to keys; a holder goes on holding. */
  cancel(queue: string, keys: readonly string[]): Awaitable<readonly CancelOutcome[]>

  /**
   * Hands out keys that are due, under a lease.
   *
   * Takes keys that are not held, not parked and due, of a queue that is not paused: by priority,
   * then `readyAt`, then `seq`. Each gets a token greater than all before it, in the whole store. A
   * key is never handed out twice, whoever asks at the same time. A key with crashes is handed out
   * alone: it ends the batch before it, or is the whole batch. Keys that somebody else has locked
   * are passed over. Leases that are over are reported, not taken.
   */
  claim(queue: string, request: ClaimRequest): Awaitable<ClaimReply>

  /**
   * The claims made under this `claimId`, if they are still held; for when the answer to a claim
   * was lost. Required of drivers that can fail with `ERR_UNKNOWN_OUTCOME`.
   */
  adopt?(queue: string, claimId: string): Awaitable<readonly Claim[]>

  /**
   * Gives back keys whose holders have let their leases run out. Does nothing to a key whose token
   * is another by now, or whose lease is not over by the store's time.
   */
  expire(
    queue: string,
    leases: readonly Lease[],
    options: ExpireOptions,
  ): Awaitable<readonly (ExpireOutcome | Failure)[]>

  /**
   * Extends leases to `leaseMs` from now, or leaves them if they are longer. Never waits for a row
   * that somebody else has locked: such a lease is a {@link Failure} (`ERR_STORE_BUSY`).
   */
  renew(
    queue: string,
    leases: readonly Lease[],
    leaseMs: number,
  ): Awaitable<readonly (RenewReply | Failure)[]>

  /**
   * Gives back held keys. Each is let go of if its token is still current, and nothing is changed if
   * it is not (`lost`). A token stays good after its lease until a claim or an `expire` replaced it.
   * After any outcome but `lost` the token holds nothing, whatever raced it.
   */
  finish(
    queue: string,
    finishes: readonly Finish[],
    options: AskOptions,
  ): Awaitable<readonly (FinishReply | Failure)[]>

  /** Counts failures and crashes of keys from zero again, held or not. */
  forget(queue: string, keys: readonly string[]): Awaitable<readonly ForgetOutcome[]>

  /**
   * The heartbeat of a queue that waits: registers the worker, says when to look again, reports
   * leases that are over, and sweeps away a bounded number of stale rows. One statement.
   */
  tick(queue: string, request: TickRequest): Awaitable<TickReply>

  /** Counts keys by state, looking at no more than about `cap` keys of each. */
  counts(queue: string, options: { readonly cap: number }): Awaitable<Counts>

  /** Lists keys. A page costs no more for a million keys than for a thousand. */
  list(queue: string, request: ListRequest): Awaitable<ListReply>

  /**
   * Calls `onWake` soon after something may have become claimable, whoever did it; with the queue's
   * name if it is known. A hint: it may come late, twice, in vain, or not at all. Returns how to
   * stop.
   */
  watch?(onWake: (queue: string | undefined) => void): Awaitable<() => Awaitable<void>>

  readonly operate?: Operate

  /** No capability speaks of it: it is there or not. */
  readonly transfer?: Transfer

  /** The names of all queues that have keys, are paused, or have a worker on record. */
  queues?(): Awaitable<readonly string[]>

  /** The workers that have ticked on a queue within `withinMs`. */
  workers?(queue: string, withinMs: number): Awaitable<readonly WorkerRow[]>

  /** All buckets. */
  buckets?(): Awaitable<readonly BucketRow[]>

  /** The verbs inside a transaction that the caller began and will end. */
  transact?(transaction: unknown): DriverTransaction

  /**
   * A door for drivers that live in this process: the hot verbs for one key at a time, without
   * arrays and promises. They mean exactly what the verbs above mean.
   */
  direct?(queue: string): DirectQueue
}
