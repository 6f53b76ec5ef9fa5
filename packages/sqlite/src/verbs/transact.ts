import {
  type AskOptions,
  type DriverTransaction,
  type Finish,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core/driver'
import { fileOf, isInTransaction } from '../connection/database-source.ts'
import { errorKindOf, isOfOldSnapshot, storeError } from '../connection/errors.ts'
import { prepareStatements, type Statements } from '../connection/statements.ts'
import { realPathOf } from '../connection/store-file.ts'
import type { SqliteDatabase } from '../library/database.ts'
import {
  checkColumnNames,
  checkDatabase,
  differenceOf,
  type Library,
  libraryBehind,
} from '../library/library.ts'
import { StoreRow } from '../rows/store-row.ts'
import type { StoreTime } from '../rows/store-time.ts'
import { WriteTransaction } from '../rows/write-transaction.ts'
import { addVerb } from './add.ts'
import { finishVerb } from './finish.ts'

/** The statements of each connection that takes part, prepared once. */
const preparedFor = new WeakMap<SqliteDatabase, Statements>()

/** The store that a transaction of the caller must be on. */
export interface TransactTarget {
  /** The real path of the file that the driver has open, or what a database in memory is called. */
  readonly file: string
  /** The connection that the caller has passed as the only one, if any. */
  readonly exclusive: SqliteDatabase | undefined
  /** The library of the driver's own connection to the file. */
  readonly library: Library
  readonly time: StoreTime
  /**
   * Called after each verb that has written, with a function that tells whether its transaction is
   * open.
   */
  wrote(isPending: () => boolean): void
}

/** The verbs inside a transaction that the caller has begun on a connection of its own. */
export function transact(target: TransactTarget, transaction: unknown): DriverTransaction {
  const database = checkDatabase('transaction', transaction)
  checkTarget(target, database)
  const inside = <T>(queue: string, work: (tx: WriteTransaction) => T): T => {
    if (!isInTransaction(database)) {
      throw new SluiceTypeError('transaction', 'must have begun; begin one on the database first')
    }
    try {
      return asOne(database, () => {
        const statements = statementsOf(database)
        const store = new StoreRow(statements, target.time, queue)
        const tx = new WriteTransaction(statements, queue, store)
        const value = work(tx)
        tx.end()
        store.save()
        target.wrote(() => isInTransaction(database))
        return value
      })
    } catch (error) {
      throw transactionError(error, target.file)
    }
  }
  return {
    add: (queue, asks, options) => inside(queue, (tx) => addVerb(tx, asks, options)),
    finish: (queue, finishes, options) =>
      inside(queue, (tx) => finishOrThrow(tx, finishes, options)),
  }
}

function checkTarget(target: TransactTarget, database: SqliteDatabase): void {
  if (database === target.exclusive) return
  const { file } = target
  const theirs = fileOf(database)
  if (theirs === '' || realPathOf(theirs) !== file) {
    throw new SluiceTypeError('transaction', `must be a connection to ${file}`)
  }
  const difference = differenceOf(libraryBehind(database), target.library)
  if (difference === undefined) return
  throw new SluiceError(
    'ERR_STORE',
    `the transaction is on a connection of ${difference}, and the driver has ${file} open with ` +
      `${target.library.name}: two copies of SQLite in one process drop each other's locks; open both ` +
      'with the same one',
  )
}

function statementsOf(database: SqliteDatabase): Statements {
  const known = preparedFor.get(database)
  if (known !== undefined) return known
  checkColumnNames('transaction', database)
  const statements = prepareStatements(database)
  preparedFor.set(database, statements)
  return statements
}

/** Where every further call in the transaction would fail too, the error does not say that it may be repeated. */
function transactionError(error: unknown, file: string): SluiceError {
  const why = whyNoFurtherCall(error, file)
  if (why === undefined) return storeError(error, 'before-commit', file)
  return new SluiceError('ERR_STORE', why, { cause: error })
}

function whyNoFurtherCall(error: unknown, file: string): string | undefined {
  if (isOfOldSnapshot(error)) {
    return `${file} was written to since this transaction read it; roll back, and \`begin immediate\``
  }
  return errorKindOf(error) === 'read-only' ? `this transaction cannot write to ${file}` : undefined
}

/** Does `work` atomically inside a transaction that continues if it fails. */
function asOne<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('savepoint sluice')
  try {
    const value = work()
    database.exec('release sluice')
    return value
  } catch (error) {
    try {
      database.exec('rollback to sluice; release sluice')
    } catch {
      // Some errors have already ended the whole transaction.
    }
    throw error
  }
}

function finishOrThrow(
  tx: WriteTransaction,
  finishes: readonly Finish[],
  options: AskOptions,
): ReturnType<typeof finishVerb> {
  const replies = finishVerb(tx, finishes, options)
  const index = replies.findIndex(({ outcome }) => outcome === 'lost')
  if (index === -1) return replies
  throw new SluiceError(
    'ERR_LEASE_LOST',
    `key ${JSON.stringify(finishes[index]?.key)} is no longer held under this token; roll the ` +
      'transaction back',
  )
}
