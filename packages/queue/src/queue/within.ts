import type { AddOutcome, FinishOutcome } from '@sluice/core'
import type { DoneOptions, Held } from '../held/held.ts'
import type { AddAfterOptions, AddOptions } from './queue.ts'

/**
 * The verbs of a queue inside a synchronous transaction of yours, as on SQLite. Their writes commit
 * or roll back with it. They throw instead of rejecting.
 *
 * A lost lease is thrown (`ERR_LEASE_LOST`), so that your writes without the lease do not commit. A
 * Held that is finished here stays open until the store shows that the transaction has committed;
 * if it was rolled back, finish the Held again.
 */
export interface WithinNow<T> {
  /** See `Queue.add`. */
  add(item: T, options?: AddOptions): AddOutcome
  /** See `Queue.addMany`. */
  addMany(items: readonly T[], options?: AddOptions): AddOutcome[]
  /** See `DelayingQueue.addAfter`. */
  addAfter(item: T, ms: number, options?: AddAfterOptions): AddOutcome
  /** See `Held.done`. */
  done(held: Held<T>, options?: DoneOptions): FinishOutcome
  /** See `Queue.doneMany`. */
  doneMany(helds: readonly Held<T>[], options?: DoneOptions): FinishOutcome[]
  /** See `Held.retry`. */
  retry(held: Held<T>, error?: unknown): FinishOutcome
}

/** The same inside an asynchronous transaction, as on Postgres: each verb must be awaited. */
export interface WithinLater<T> {
  /** See `Queue.add`. */
  add(item: T, options?: AddOptions): Promise<AddOutcome>
  /** See `Queue.addMany`. */
  addMany(items: readonly T[], options?: AddOptions): Promise<AddOutcome[]>
  /** See `DelayingQueue.addAfter`. */
  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome>
  /** See `Held.done`. */
  done(held: Held<T>, options?: DoneOptions): Promise<FinishOutcome>
  /** See `Queue.doneMany`. */
  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Promise<FinishOutcome[]>
  /** See `Held.retry`. */
  retry(held: Held<T>, error?: unknown): Promise<FinishOutcome>
}

/** A synchronous database: the common part of SQLite's libraries. */
export interface DatabaseNow {
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

/** The verbs of a queue inside the transaction of this database or client. */
export type Within<T, Transaction> = Transaction extends DatabaseNow ? WithinNow<T> : WithinLater<T>
