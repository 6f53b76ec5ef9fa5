import {
  type AskReply,
  type DriverTransaction,
  type FinishReply,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import { isPgliteLike, type PgClient } from '../connection/client-shapes.ts'
import type { Connection, Connections } from '../connection/connection.ts'
import { DeadlineError } from '../connection/deadline.ts'
import { sqlStateOf, storeError } from '../connection/errors.ts'
import { noticeOf } from '../connection/listener.ts'
import { PgliteConnection } from '../connection/pglite-connection.ts'
import { PgConnection, type PoolUse } from '../connection/pool-connections.ts'
import type { Store } from '../connection/store.ts'
import type { OnBucketConnection } from '../rows/token-buckets.ts'
import { addByTransitions } from './add.ts'
import { finishByTransitions } from './finish.ts'

/** What a transaction of the caller's needs to know of the driver. */
export interface TransactionUse {
  /** The store, opened if it was not. */
  readonly store: () => Promise<Store>
  readonly poolUse: () => PoolUse
  /** Where buckets are charged: never the connection of the caller, and none that waits for it. */
  readonly buckets: () => Connections
  readonly channel: string
}

/** The end of the verbs that were called on a client, so that they follow one another. */
const turns = new WeakMap<object, Promise<unknown>>()

/** Clients that did not answer in time, so that their state is unknown. */
const silent = new WeakSet<object>()

/**
 * The verbs within a transaction that the caller began, and will end. Each stands behind a savepoint
 * of its own: one that fails leaves the transaction as it was.
 */
export function transactionOn(transaction: unknown, use: TransactionUse): DriverTransaction {
  if (typeof transaction !== 'object' || transaction === null || !('query' in transaction)) {
    throw new SluiceTypeError(
      'transaction',
      'must be a client of pg on which a transaction is open',
    )
  }
  const client = transaction
  const isPglite = isPgliteLike(transaction)
  const sessionOf = (poolUse: PoolUse): Connection =>
    isPgliteLike(transaction)
      ? new PgliteConnection(transaction, poolUse)
      : new PgConnection(transaction as PgClient, poolUse, () => false)

  /** Verbs that are called together would share a savepoint, and undo one another. */
  async function inTurn<T>(verb: () => Promise<T>): Promise<T> {
    const turn = (turns.get(client) ?? Promise.resolve()).then(verb)
    turns.set(
      client,
      turn.catch(() => {}),
    )
    return await turn
  }

  async function guarded<T>(
    queue: string,
    work: (
      store: Store,
      connection: Connection,
      onBucketConnection: OnBucketConnection,
    ) => Promise<readonly T[]>,
    wakes: (reply: T) => boolean,
  ): Promise<readonly T[]> {
    if (silent.has(client)) {
      throw new SluiceError(
        'ERR_STORE',
        'this client did not answer an earlier verb in time; roll back, and open a new connection',
      )
    }
    const store = await use.store()
    const connection = sessionOf(use.poolUse())
    // A bucket that stayed locked until the caller commits would stop everybody who shares it; so
    // tokens are taken apart, and are not given back by a rollback. PGlite has nobody to stop.
    const onBucketConnection: OnBucketConnection = isPglite
      ? (charge) => charge(connection)
      : (charge) => use.buckets().transaction(charge).catch(notCharged)
    try {
      await savepoint(connection)
      const replies = await work(store, connection, onBucketConnection)
      // With the commit, and only with it, others are told.
      if (replies.some(wakes)) {
        await connection.query(store.statements.notify, [use.channel, noticeOf(queue)])
      }
      await connection.script('release savepoint sluice')
      return replies
    } catch (error) {
      if (error instanceof DeadlineError) {
        // Whether the verb took part is not known; only a rollback of the caller's makes sure.
        silent.add(client)
        throw storeError(error, 'sent')
      }
      await connection
        .script('rollback to savepoint sluice; release savepoint sluice')
        .catch(() => {})
      // Nothing of it is committed before the caller commits, whatever broke.
      throw storeError(error, 'unsent')
    }
  }

  return {
    add: (queue, asks, options) =>
      inTurn(() =>
        guarded<AskReply>(
          queue,
          (store, connection, onBucketConnection) =>
            addByTransitions(store, connection, queue, asks, options, onBucketConnection),
          ({ outcome }) => outcome === 'added' || outcome === 'moved',
        ),
      ),
    finish: (queue, finishes, options) =>
      inTurn(() =>
        guarded<FinishReply>(
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
            if (replies.some(({ outcome }) => outcome === 'lost')) {
              throw new SluiceError('ERR_LEASE_LOST', 'the lease of a key to finish is lost')
            }
            return replies
          },
          ({ outcome }) => outcome === 'ready' || outcome === 'delayed',
        ),
      ),
  }
}

async function savepoint(connection: Connection): Promise<void> {
  try {
    await connection.script('savepoint sluice; set local extra_float_digits = 1')
  } catch (error) {
    if (sqlStateOf(error) === '25P01') {
      throw new SluiceTypeError('transaction', 'must be a client on which a transaction is open', {
        cause: error,
      })
    }
    throw error
  }
}

/** A token may be gone, but of the keys nothing is in doubt: the verb is undone. */
function notCharged(error: unknown): never {
  if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) throw error
  const message = `the bucket could not be charged: ${error.message}`
  throw new SluiceError('ERR_STORE', message, { cause: error, retryable: true })
}
