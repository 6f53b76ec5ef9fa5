import type { RateLimitingQueue, WithinLater } from 'sluice'

/** A transaction that a library has begun. */
export interface OrmTransaction {
  /** The verbs of the queue in it: `queue.within(tx)`, typed without a cast. */
  readonly within: WithinLater<string>
  /** Writes a row by the means of the library. */
  insert(id: number): Promise<void>
}

/** A library that talks to a database. */
export interface Orm {
  /** Does `work` in a transaction, which is rolled back if `work` rejects. */
  transaction(work: (transaction: OrmTransaction) => Promise<void>): Promise<void>
  /** Whether a statement that fails ends the transaction, whatever the caller does about it. */
  readonly endsAfterErrors?: boolean
  /** The verbs where no transaction is open. */
  outside(): WithinLater<string>
  close(): Promise<void>
}

/** Opens a library on a database that has a table `orders (id int primary key)`. */
export type OpenOrm = (url: string, queue: RateLimitingQueue<string>) => Promise<Orm>
