import {
  type AskReply,
  type DriverTransaction,
  type FinishReply,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import { isPgliteLike, type PgClient } from '../connection/client-shapes.ts'
import { type Connection, type Connections, settingsText } from '../connection/connection.ts'
import { DeadlineError } from '../connection/deadline.ts'
import { repeatableError, sqlStateOf } from '../connection/errors.ts'
import { PgConnection } from '../connection/pg-connection.ts'
import { PgliteConnection } from '../connection/pglite-connection.ts'
import type { PoolUse } from '../connection/pool-connections.ts'
import type { Store } from '../connection/store.ts'
import { noticeOf } from '../notices/listener.ts'
import type { OnBucketConnection } from '../rows/token-buckets.ts'
import { addByTransitions } from '../verbs/add.ts'
import { finishByTransitions } from '../verbs/finish.ts'
import { ForeignTransaction, sendTextOf } from './foreign-transaction.ts'
import { transactionError } from './transaction-error.ts'

/** The parts of the driver that a transaction of the caller's uses. */
export interface TransactionUse {
  /** The store; opens it first if necessary. */
  readonly store: () => Promise<Store>
  readonly poolUse: () => PoolUse
  /** Where token buckets are charged: never on the caller's connection, nor on one that waits for it. */
  readonly buckets: () => Connections
  /** Whether the database has one connection, which the transaction of the caller uses. */
  readonly isSingle: boolean
  /** Where to send notices; undefined if none are sent. */
  readonly channel: string | undefined
}

/** The last call on each client, after which the next one starts. */
const turns = new WeakMap<object, Promise<unknown>>()

/** Clients that did not answer in time: the state of their transaction is unknown. */
const silent = new WeakSet<object>()

/**
 * The verbs within a transaction that the caller began, and will end. Each call has a savepoint of its
 * own: one that fails leaves the transaction as it was.
 */
export function transact(transaction: unknown, use: TransactionUse): DriverTransaction {
  const client = checkTransaction(transaction)

  function run<T>(
    queue: string,
    verb: (
      store: Store,
      connection: Connection,
      onBucketConnection: OnBucketConnection,
    ) => Promise<readonly T[]>,
    wakes: (reply: T) => boolean,
  ): Promise<readonly T[]> {
    return inTurn(client, async () => {
      checkUsable(client)
      const store = await use.store()
      const poolUse = use.poolUse()
      const connection = connectionOf(client, poolUse)
      // Ends before the client counts as silent, and before the 5 s for which Prisma lets a transaction run.
      connection.lockWaitMs = poolUse.timeoutMs / 4
      return await withSavepoint(client, connection, async () => {
        const replies = await verb(store, connection, bucketConnection(use, connection))
        // Postgres sends the notice with the commit.
        if (use.channel !== undefined && replies.some(wakes)) {
          await connection.query(store.statements.notify, [use.channel, noticeOf(queue)])
        }
        return replies
      })
    })
  }

  return {
    add: (queue, asks, options) =>
      run<AskReply>(
        queue,
        (store, connection, onBucketConnection) =>
          addByTransitions(store, connection, queue, asks, options, onBucketConnection),
        ({ outcome }) => outcome === 'added' || outcome === 'moved',
      ),
    finish: (queue, finishes, options) =>
      run<FinishReply>(
        queue,
        async (store, connection, onBucketConnection) => {
          const replies = await finishByTransitions(
            store,
            connection,
            queue,
            finishes,
            options,
            onBucketConnection,
          )
          const index = replies.findIndex(({ outcome }) => outcome === 'lost')
          if (index === -1) return replies
          throw new SluiceError(
            'ERR_LEASE_LOST',
            `key ${JSON.stringify(finishes[index]?.key)} is no longer held under this token; roll ` +
              'the transaction back',
          )
        },
        ({ outcome }) => outcome === 'ready' || outcome === 'delayed',
      ),
  }
}

/** Concurrent calls on one client would share a savepoint, and roll each other back. */
async function inTurn<T>(client: object, call: () => Promise<T>): Promise<T> {
  const turn = (turns.get(client) ?? Promise.resolve()).then(call)
  turns.set(
    client,
    turn.catch(() => {}),
  )
  return await turn
}

function connectionOf(client: object, poolUse: PoolUse): Connection {
  if (isPgliteLike(client)) return new PgliteConnection(client, poolUse)
  const send = sendTextOf(client)
  if (send !== undefined) return new ForeignTransaction(send, poolUse)
  return new PgConnection(client as PgClient, poolUse, () => false)
}

/**
 * A bucket that stays locked until the caller commits would block all users of that bucket. So tokens
 * are taken on another connection, and a rollback does not return them. PGlite has only one.
 */
function bucketConnection(use: TransactionUse, connection: Connection): OnBucketConnection {
  if (use.isSingle) return (charge) => charge(connection)
  return (charge) => use.buckets().transaction(charge).catch(notCharged)
}

function checkTransaction(transaction: unknown): object {
  const isObject = typeof transaction === 'object' && transaction !== null
  if (isObject || typeof transaction === 'function') {
    if (sendTextOf(transaction) !== undefined || 'query' in transaction) return transaction
  }
  throw new SluiceTypeError(
    'transaction',
    'must be a client of pg on which a transaction is open, the transaction of Drizzle, Kysely, ' +
      'Knex, Prisma, TypeORM, postgres.js or PGlite, or { query(text) }',
  )
}

/** Refuses a client whose transaction is in an unknown state, and one that would never answer. */
function checkUsable(client: object): void {
  if (silent.has(client)) {
    throw new SluiceError(
      'ERR_STORE',
      'the client of the transaction did not answer before; roll back, and destroy the client',
    )
  }
  // A client of pg keeps statements until it is connected, and would answer none of them.
  const { _connected: isConnected, _connecting: isConnecting } = client as PgClient
  if (isConnected === false && isConnecting === false) {
    throw new SluiceTypeError('transaction', 'must be a client that is connected')
  }
}

async function withSavepoint<T>(
  client: object,
  connection: Connection,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await savepoint(connection)
    const result = await work()
    await connection.script('release savepoint sluice')
    return result
  } catch (error) {
    if (error instanceof DeadlineError) {
      // Only a rollback by the caller makes sure that the call has no effect.
      silent.add(client)
      const message = `the client of the transaction did not answer: ${error.message}; roll back, and destroy the client`
      throw new SluiceError('ERR_UNKNOWN_OUTCOME', message, { cause: error })
    }
    await connection
      .script('rollback to savepoint sluice; release savepoint sluice')
      .catch(() => {})
    throw transactionError(error)
  }
}

async function savepoint(connection: Connection): Promise<void> {
  try {
    await connection.script(`savepoint sluice; ${settingsText}`)
  } catch (error) {
    if (sqlStateOf(error) === '25P01') {
      throw new SluiceTypeError(
        'transaction',
        'must be a client or an object on which a transaction is open',
        { cause: error },
      )
    }
    throw error
  }
}

/** A token may be spent, but the outcome for the keys is known: the call is rolled back. */
function notCharged(error: unknown): never {
  throw repeatableError(error, 'the bucket could not be charged')
}
