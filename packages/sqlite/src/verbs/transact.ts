import {
  type AskOptions,
  type DriverTransaction,
  type Finish,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import { fileOf, isInTransaction } from '../connection/database-source.ts'
import { storeError } from '../connection/errors.ts'
import { prepareSession, type Session } from '../connection/statements.ts'
import { realPathOf } from '../connection/store-file.ts'
import type { SqliteDatabase } from '../library/database.ts'
import { checkDatabase, differenceOf, type Library, libraryBehind } from '../library/library.ts'
import { QueueTransaction } from '../rows/queue-transaction.ts'
import { StoreRow, type StoreTime } from '../rows/store-row.ts'
import { addVerb } from './add.ts'
import { finishVerb } from './finish.ts'

/** Prepared once for each connection that takes part. */
const sessions = new WeakMap<SqliteDatabase, Session>()

/** What a transaction of the caller's has to be on. */
export interface TransactPlace {
  /** The real path of the store's file; empty if it is in memory. */
  file(): string
  /** The connection that was handed in for everything, if one was. */
  readonly exclusive: SqliteDatabase | undefined
  /** The library of the connection that the driver has to the file. */
  readonly library: Library
  readonly time: StoreTime
  /** Told of each verb that has written, and how to see whether its transaction still goes on. */
  wrote(isPending: () => boolean): void
}

/** The verbs inside a transaction that the caller began on a connection of its own. */
export function transact(place: TransactPlace, transaction: unknown): DriverTransaction {
  const database = checkDatabase('transaction', transaction)
  checkPlace(place, database)
  const inside = <T>(queue: string, work: (tx: QueueTransaction) => T): T => {
    if (!isInTransaction(database)) {
      throw new SluiceTypeError('transaction', 'must have begun; begin one on the database first')
    }
    try {
      return asOne(database, () => {
        const session = sessionOf(database)
        const store = new StoreRow(session, place.time)
        const tx = new QueueTransaction(session, queue, store)
        const value = work(tx)
        tx.end()
        store.save()
        place.wrote(() => isInTransaction(database))
        return value
      })
    } catch (error) {
      throw storeError(error, 'before-commit', place.file())
    }
  }
  return {
    add: (queue, asks, options) => inside(queue, (tx) => addVerb(tx, asks, options)),
    finish: (queue, finishes, options) =>
      inside(queue, (tx) => finishOrThrow(tx, finishes, options)),
  }
}

function checkPlace(place: TransactPlace, database: SqliteDatabase): void {
  if (database === place.exclusive) return
  const file = place.file()
  const theirs = fileOf(database)
  if (file === '' || theirs === '' || realPathOf(theirs) !== file) {
    throw new SluiceTypeError(
      'transaction',
      `must be a connection to ${file === '' ? 'the database that was handed in' : file}`,
    )
  }
  const difference = differenceOf(libraryBehind(database), place.library)
  if (difference === undefined) return
  throw new SluiceError(
    'ERR_STORE',
    `the transaction is on a connection of ${difference}, and the driver has ${file} open with ` +
      `${place.library.name}: two copies of SQLite in one process drop each other's locks, and ` +
      'acknowledged writes are lost. Open both with the same one',
  )
}

function sessionOf(database: SqliteDatabase): Session {
  const known = sessions.get(database)
  if (known !== undefined) return known
  const session = prepareSession(database)
  sessions.set(database, session)
  return session
}

/** Does `work` whole or not at all, inside a transaction that goes on either way. */
function asOne<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('savepoint sluice')
  try {
    const value = work()
    database.exec('release sluice')
    return value
  } catch (error) {
    try {
      database.exec('rollback to sluice')
      database.exec('release sluice')
    } catch {
      // Some errors have ended the whole transaction already.
    }
    throw error
  }
}

function finishOrThrow(
  tx: QueueTransaction,
  finishes: readonly Finish[],
  options: AskOptions,
): ReturnType<typeof finishVerb> {
  const replies = finishVerb(tx, finishes, options)
  const index = replies.findIndex(({ outcome }) => outcome === 'lost')
  if (index === -1) return replies
  throw new SluiceError(
    'ERR_LEASE_LOST',
    `key ${JSON.stringify(finishes[index]?.key)} is not held under this token any more; roll the ` +
      'transaction back',
  )
}
