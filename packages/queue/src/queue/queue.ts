// This folder is what users call: the queue and its layers, from checking the arguments of a verb
// to calling the core.

import type {
  AddOutcome,
  CancelOutcome,
  Capabilities,
  Dedupe,
  FinishOutcome,
  ForgetOutcome,
} from '@sluice/core'
import type { DoneOptions, Held } from '../held/held.ts'
import type { Inspect } from '../inspect/inspect.ts'
import type { Within } from './within.ts'

/** How an item is added. */
export interface AddOptions {
  /** From -1000 to 1000, higher first; 0 unless given. */
  readonly priority?: number | undefined
}

/** How an item is added for later. */
export interface AddAfterOptions extends AddOptions {
  /**
   * How the add is merged with a key that is delayed already. `earliest`, the default: the earlier
   * time wins. `latest`: the later time wins (debounce); a key that is ready already stays ready.
   */
  readonly when?: 'earliest' | 'latest' | undefined
  /** With `latest`: how long a key can be put off since it was first added. Default: a day. */
  readonly maxWaitMs?: number | undefined
}

/** How to wait. */
export interface WaitOptions {
  /** Ends the wait: the promise rejects with the signal's reason, and no key is taken. */
  readonly signal?: AbortSignal | undefined
}

/** How to close a queue. */
export interface CloseOptions {
  /**
   * How long to wait for held keys to be given back before their signals are aborted. By default, handlers
   * of workers have 10 s, and keys that were taken in another way none.
   */
  readonly graceMs?: number | undefined
}

/** The capabilities of a queue, as data. */
export interface QueueCapabilities extends Capabilities {
  /**
   * Where delays live: in the `store`, or in this `process` only, which is so for a delaying queue
   * around a queue of another library.
   */
  readonly delays: 'store' | 'process'
  readonly dedupe: Dedupe
}

/**
 * A queue of keys. A key that is added many times before it is handed out is handed out once. It is
 * never held twice at the same time. If it is added again while it is held, it is handed out once
 * more.
 *
 * The promise of a verb resolves after the store has committed. No verb throws: bad input and
 * errors of the store reject, and bad input changes nothing.
 */
export interface Queue<T> extends AsyncDisposable, AsyncIterable<Held<T>> {
  readonly name: string
  readonly capabilities: QueueCapabilities
  /** Inspects and operates the queue. */
  readonly inspect: Inspect

  /** Adds an item: a run of its key is pending from now on. */
  add(item: T, options?: AddOptions): Promise<AddOutcome>
  /**
   * Adds several items, in this order. A key that occurs twice is added once. With `maxPending`,
   * rejects with `ERR_QUEUE_FULL` if there is no room for one of them; the others are added.
   */
  addMany(items: readonly T[], options?: AddOptions): Promise<AddOutcome[]>
  /**
   * Adds from an event handler: returns synchronously and never fails. The add is tried until it is
   * stored, and the last item added wins, also after an outage. `onError` is called with the error
   * of an add that is refused. `close` waits for pending adds.
   */
  addSoon(item: T, options?: AddOptions): void
  /**
   * Waits for a key and takes it; `undefined` once the queue is shut down and no key is left that
   * was due then. Continues to wait while the store is unreachable.
   */
  get(options?: WaitOptions): Promise<Held<T> | undefined>
  /** Waits for at least one key, and takes at most `n`; empty once the queue is shut down. */
  getMany(n: number, options?: WaitOptions): Promise<Held<T>[]>
  /**
   * Ends a run: of a Held, or of the oldest unfinished Held of that item's key which this queue
   * object handed out. The outcome for an item that it did not hand out is `lost`.
   */
  done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome>
  /** Ends several runs. */
  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Promise<FinishOutcome[]>
  /**
   * The verbs inside a transaction of yours: of a SQLite database, or of a Postgres client. Throws
   * where the driver takes part in none.
   */
  within<Transaction extends object>(transaction: Transaction): Within<T, Transaction>
  /** Cancels the pending runs of the item's key. A holder keeps holding it: see `inspect.release`. */
  cancel(item: T): Promise<CancelOutcome>
  /**
   * Looks for keys in the store now, if a caller waits for any. Needed with `quietAfterMs`, after
   * another process has added keys; makes a quiet queue listen again.
   */
  wake(): void
  /** How many keys are ready: not those held, delayed or parked. */
  len(): Promise<number>

  /**
   * Takes no more adds. Keys that were due at the time of the call can still be taken; then `get`
   * resolves with `undefined`. Acts on this object, not on the store. Resolves once the store's
   * time of the call is known; rejects with ERR_TIMEOUT if it is not within `timeoutMs`. Adds are refused
   * all the same, and another call waits again.
   */
  shutDown(): Promise<void>
  /**
   * Shuts down, and resolves when no key that was due is ready any more and this object holds none.
   * A later `shutDown()` ends the wait.
   */
  shutDownWithDrain(options?: WaitOptions): Promise<void>
  /** Whether the queue was shut down. */
  readonly shuttingDown: boolean

  /**
   * Yields keys until the queue is shut down and holds none. Leaving the loop releases the key that
   * was yielded last, if it is unfinished and was not detached; the queue stays open.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Held<T>>

  /**
   * Closes the queue: flushes accepted adds, waits `graceMs` for held keys, aborts their signals,
   * waits one more second, and leaves the rest to their leases, named in one ERR_CLOSING that is
   * reported. Ends within the grace and two seconds, even if the store does not answer: calls
   * without an answer then reject. Calling it again waits for the same end; with `graceMs: 0` it
   * ends the grace period.
   */
  close(options?: CloseOptions): Promise<void>
}

/** A queue that takes adds for a later time. */
export interface DelayingQueue<T> extends Queue<T> {
  /** Adds an item for `ms` milliseconds from now; zero and less mean now. */
  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome>
}

/** A queue with a limiter that decides how long failed keys wait. */
export interface RateLimitingQueue<T> extends DelayingQueue<T> {
  /** Counts a failure of the item's key, and adds it after the limiter's delay. */
  addRateLimited(item: T, options?: AddOptions): Promise<AddOutcome>
  /** Resets the failure count of the item's key. Its pending runs stay. */
  forget(item: T): Promise<ForgetOutcome>
  /**
   * The failure count of the item's key; 0 if no part of the limiter depends on it, as with a
   * bucket alone.
   */
  numRequeues(item: T): Promise<number>
}
