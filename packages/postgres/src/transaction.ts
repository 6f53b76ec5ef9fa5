import {
  type AskReply,
  type DriverTransaction,
  type FinishReply,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import { addWorkedOut } from './asking-verb.ts'
import type { InBuckets } from './bucket-shelf.ts'
import { isPgliteLike, type PgClient } from './client-shapes.ts'
import { finishWorkedOut } from './finishing-verb.ts'
import { hintOf } from './listener.ts'
import { PgSession, type PoolUse } from './pool-sessions.ts'
import type { Session } from './session.ts'
import { PgliteSession } from './single-session.ts'
import type { Store } from './store.ts'
import { sqlStateOf, storeError } from './store-error.ts'

/** What a transaction of the caller's needs to know of the driver. */
export interface TransactionUse {
  /** The store, opened if it was not. */
  readonly store: () => Promise<Store>
  readonly poolUse: () => PoolUse
  readonly channel: string
}

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
  const isPglite = isPgliteLike(transaction)
  const sessionOf = (poolUse: PoolUse): Session =>
    isPgliteLike(transaction)
      ? new PgliteSession(transaction, poolUse)
      : new PgSession(transaction as PgClient, poolUse, () => false)

  async function guarded<T>(
    queue: string,
    work: (store: Store, session: Session, inBuckets: InBuckets) => Promise<readonly T[]>,
    wakes: (reply: T) => boolean,
  ): Promise<readonly T[]> {
    const store = await use.store()
    const session = sessionOf(use.poolUse())
    // A bucket that stayed locked until the caller commits would stop everybody who shares it; so
    // tokens are taken apart, and are not given back by a rollback. PGlite has nobody to stop.
    const inBuckets: InBuckets = isPglite
      ? (charge) => charge(session)
      : (charge) => store.once(charge)
    await savepoint(session)
    try {
      const replies = await work(store, session, inBuckets)
      // With the commit, and only with it, others are told.
      if (replies.some(wakes)) {
        await session.query(store.statements.notify, [use.channel, hintOf(queue)])
      }
      await session.script('release savepoint sluice')
      return replies
    } catch (error) {
      await session.script('rollback to savepoint sluice; release savepoint sluice').catch(() => {})
      // Nothing of it is committed before the caller commits, whatever broke.
      throw storeError(error, 'unsent')
    }
  }

  return {
    add: (queue, asks, options) =>
      guarded<AskReply>(
        queue,
        (store, session, inBuckets) =>
          addWorkedOut(store, session, queue, asks, options, inBuckets),
        ({ outcome }) => outcome === 'added' || outcome === 'moved',
      ),
    finish: (queue, finishes, options) =>
      guarded<FinishReply>(
        queue,
        async (store, session, inBuckets) => {
          const replies = await finishWorkedOut(store, session, queue, finishes, options, inBuckets)
          if (replies.some(({ outcome }) => outcome === 'lost')) {
            throw new SluiceError('ERR_LEASE_LOST', 'the lease of a key to finish is lost')
          }
          return replies
        },
        ({ outcome }) => outcome === 'ready' || outcome === 'delayed',
      ),
  }
}

async function savepoint(session: Session): Promise<void> {
  try {
    await session.script('savepoint sluice; set local extra_float_digits = 1')
  } catch (error) {
    if (sqlStateOf(error) === '25P01') {
      throw new SluiceTypeError('transaction', 'must be a client on which a transaction is open', {
        cause: error,
      })
    }
    throw storeError(error, 'unsent')
  }
}
