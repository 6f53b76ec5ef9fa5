import {
  type CancelOutcome,
  type EpochMs,
  type ExpireOptions,
  type ExpireOutcome,
  type ForgetOutcome,
  type Lease,
  never,
  perKeyDelay,
  type RenewReply,
  transitions,
} from '@sluice/core'
import type { Session } from '../connection/statements.ts'
import { instantOf, storedInstant } from '../rows/columns.ts'
import { findQueue, type QueueTransaction } from '../rows/queue-transaction.ts'

/** Extends leases whose tokens are current. */
export function renewVerb(
  session: Session,
  queue: string,
  leases: readonly Lease[],
  leaseUntil: EpochMs,
): RenewReply[] {
  const row = findQueue(session, queue)
  const until = storedInstant(leaseUntil)
  const pairs = JSON.stringify(leases.map(({ key, token }) => [key, token]))
  const renewed = (row === undefined ? [] : session.renew.all(until, until, pairs, row.id)) as {
    readonly key: string
    readonly lease_until: number | null
  }[]
  const untilOf = new Map(renewed.map((each) => [each.key, instantOf(each.lease_until)]))
  return leases.map(({ key }) => {
    const extended = untilOf.get(key)
    return extended === undefined
      ? { outcome: 'lost', leaseUntil: never }
      : { outcome: 'renewed', leaseUntil: extended }
  })
}

/** Gives back keys whose holders have let their leases run out. */
export function expireVerb(
  tx: QueueTransaction,
  leases: readonly Lease[],
  { plan, jitter, dedupe, maxCrashes }: ExpireOptions,
): ExpireOutcome[] {
  const firstSeq = tx.drawSeqs(leases.length)
  return leases.map(({ key, token }, index) => {
    const record = tx.key(key)
    const { state } = record
    const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter ?? 0)
    const seq = firstSeq + index
    return tx.change(record, () =>
      transitions.expire(state, token, delayMs, maxCrashes, dedupe, tx.now, seq),
    )
  })
}

/** Counts failures and crashes of keys from zero again. */
export function forgetVerb(tx: QueueTransaction, keys: readonly string[]): ForgetOutcome[] {
  const known = tx.keys(keys)
  return keys.map((key) => {
    const record = known.get(key)
    if (record === undefined) return 'unchanged'
    return tx.change(record, ({ state }) => transitions.forget(state))
  })
}

/** Takes back what is owed to keys. */
export function cancelVerb(tx: QueueTransaction, keys: readonly string[]): CancelOutcome[] {
  const known = tx.keys(keys)
  return keys.map((key) => {
    const record = known.get(key)
    if (record === undefined) return 'unchanged'
    return tx.change(record, ({ state }) => transitions.cancel(state))
  })
}
