import { type Lease, never, type RenewReply } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { instantOf, storedInstant } from '../rows/columns.ts'
import type { StoreRow } from '../rows/store-row.ts'

/** Extends leases whose tokens are current. */
export function renewVerb(
  statements: Statements,
  { queue, now }: StoreRow,
  leases: readonly Lease[],
  leaseMs: number,
): RenewReply[] {
  const until = storedInstant(now + leaseMs)
  const pairs = JSON.stringify(leases.map(({ key, token }) => [key, token]))
  const renewed = (
    queue === undefined ? [] : statements.renew.all(until, until, pairs, queue.id)
  ) as {
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
