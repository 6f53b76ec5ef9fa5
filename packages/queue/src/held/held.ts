// This folder is the keys that a queue object holds: the Held of each, and their leases.

import type { EpochMs, FinishOutcome } from '@sluice/core'

/** How to finish a run that went well. */
export interface DoneOptions {
  /** Whether failures are counted from zero again. Default false. */
  readonly forget?: boolean | undefined
}

/**
 * A key that was handed out and is yours until you give it back.
 *
 * While it is held no other worker gets the key, in any process. Give it back with exactly one of
 * {@link Held.done}, {@link Held.retry}, {@link Held.release} and {@link Held.park}; each is one
 * write, guarded by the token: if the lease was lost meanwhile, it changes nothing and says `lost`.
 *
 * A Held that goes out of an `await using` scope unfinished is retried on a rate-limiting queue (a
 * scope left without `done` is a failure), and released on the others.
 */
export interface Held<T> extends AsyncDisposable {
  /** The last item that was added before the key was handed out; a value of its own. */
  readonly item: T
  readonly key: string
  /**
   * The fencing number: greater than that of every earlier holder. Hand it to the systems you write
   * to, and let them refuse a smaller one than they have seen.
   */
  readonly token: number
  /** How many runs have failed since the last forget, before this one; crashes are counted, too. */
  readonly failures: number
  /** How many holders have vanished with the key since a run last ended, or the last forget. */
  readonly crashes: number
  readonly priority: number
  /** When this run was first added. */
  readonly addedAt: EpochMs
  /**
   * Aborts when the key is no longer yours to work on: `ERR_LEASE_LOST`, `ERR_HANDLER_TIMEOUT`, or
   * `ERR_CLOSING` as its `reason`.
   */
  readonly signal: AbortSignal

  /** Ends the run. If the key was added again meanwhile, it runs again. */
  done(options?: DoneOptions): Promise<FinishOutcome>
  /**
   * Ends the run as failed: counts the failure, and the key comes back after the limiter's delay. A number
   * above zero in a property `retryAfterMs` of the error replaces that delay.
   */
  retry(error?: unknown): Promise<FinishOutcome>
  /** Puts the key back at its old position, as if it had not been taken. */
  release(): Promise<FinishOutcome>
  /** Parks the key: it does not run until it is unparked. With an error, counts a failure. */
  park(error?: unknown): Promise<FinishOutcome>
  /** Says that the loop that yielded this need not release it when it is left. Returns this. */
  detach(): this
}
