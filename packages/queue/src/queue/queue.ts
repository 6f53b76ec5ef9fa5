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
  readonly priority?: number
}

/** How an item is added for later. */
export interface AddAfterOptions extends AddOptions {
  /**
   * What becomes of a key that is delayed already. `earliest`, the default: the earlier time wins.
   * `latest`: the later one does (debounce); a key that is ready already stays so.
   */
  readonly when?: 'earliest' | 'latest'
  /** With `latest`: how long a key can be put off since it was first asked for. Default: a day. */
  readonly maxWaitMs?: number
}

/** Something that can be abandoned. */
export interface WaitOptions {
  /** Abandons the wait: the promise rejects with the signal's reason, and nothing is taken. */
  readonly signal?: AbortSignal
}

/** How to close a queue. */
export interface CloseOptions {
  /** How long to wait for held keys to be given back before their signals are aborted. Default 0. */
  readonly graceMs?: number
}

/** What a queue can do, as data. */
export interface QueueCapabilities extends Capabilities {
  /**
   * Where delays live: in the `store`, or in this `process` only, which is so for a delaying queue
   * around a queue that is not ours.
   */
  readonly delays: 'store' | 'process'
  readonly dedupe: Dedupe
}

/**
 * A queue of keys. However often a key is added before it is handed out, it is handed out once;
 * never to two holders at a time; and if it is added again while it is held, it is handed out
 * again.
 *
 * Promises that a verb returns resolve after the store has committed. No verb throws: bad input and
 * trouble alike reject, and bad input changes nothing.
 */
export interface Queue<T> extends AsyncDisposable, AsyncIterable<Held<T>> {
  readonly name: string
  readonly capabilities: QueueCapabilities
  /** Sees into the queue, and works on it as an operator does. */
  readonly inspect: Inspect

  /** Asks for a run of the item's key, now. */
  add(item: T, options?: AddOptions): Promise<AddOutcome>
  /** Adds several items, in this order. The same key twice is one ask. */
  addMany(items: readonly T[], options?: AddOptions): Promise<AddOutcome[]>
  /**
   * Adds from an event handler: returns at once and never fails. The add is tried until it is
   * stored, and the item added last wins, also after an outage; what cannot be added goes to
   * `onError`. `close` waits for it.
   */
  addSoon(item: T, options?: AddOptions): void
  /**
   * Waits for a key and takes it; `undefined` once the queue is shut down and has nothing left that
   * was due then. Waits through trouble with the store.
   */
  get(options?: WaitOptions): Promise<Held<T> | undefined>
  /** Waits for at least one key, and takes at most `n`; empty once the queue is shut down. */
  getMany(n: number, options?: WaitOptions): Promise<Held<T>[]>
  /**
   * Ends a run: of a Held, or of the oldest unfinished Held of that item's key which this queue
   * object handed out. An item that it did not hand out is `lost`.
   */
  done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome>
  /** Ends several runs. */
  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Promise<FinishOutcome[]>
  /**
   * The verbs inside a transaction of yours: of a SQLite database, or of a Postgres client. Throws
   * where the driver takes part in none.
   */
  within<Transaction extends object>(transaction: Transaction): Within<T, Transaction>
  /** Takes back what is owed to the item's key. A holder goes on holding it. */
  cancel(item: T): Promise<CancelOutcome>
  /** How many keys are ready: not those held, delayed or parked. */
  len(): Promise<number>

  /**
   * Takes no more adds. What was due at the time of the call can still be taken; then `get` gives
   * `undefined`. Acts on this object, not on the store. Resolves once the time of the call is known.
   */
  shutDown(): Promise<void>
  /**
   * Shuts down, and resolves when nothing that was due is ready any more and this object holds
   * nothing. A later `shutDown()` ends the wait.
   */
  shutDownWithDrain(options?: WaitOptions): Promise<void>
  /** Whether the queue was shut down. */
  readonly shuttingDown: boolean

  /**
   * Lets go of everything: flushes what was accepted, waits `graceMs` for held keys, aborts their
   * signals, waits a second more, and leaves the rest to their leases, named in one ERR_CLOSING that
   * is reported. Ends within `graceMs` and two seconds, even if the store does not answer: a call
   * that is given up then rejects. Calling it again waits for the same end; with `graceMs: 0`, for a
   * sooner one.
   */
  close(options?: CloseOptions): Promise<void>
}

/** A queue that can be asked for a key later. */
export interface DelayingQueue<T> extends Queue<T> {
  /** Asks for a run of the item's key in `ms`; zero and less mean now. */
  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome>
}

/** A queue with a limiter that decides how long failed keys wait. */
export interface RateLimitingQueue<T> extends DelayingQueue<T> {
  /** Counts a failure of the item's key, and asks for a run after the limiter's delay. */
  addRateLimited(item: T, options?: AddOptions): Promise<AddOutcome>
  /** Counts failures of the item's key from zero again. What is owed to it stays. */
  forget(item: T): Promise<ForgetOutcome>
  /**
   * How many failures are counted of the item's key; 0 where no part of the limiter goes by them, as
   * with a bucket alone.
   */
  numRequeues(item: T): Promise<number>
}
