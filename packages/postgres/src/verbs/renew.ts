import { type Failure, type Lease, never, type RenewReply } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { instant, number } from '../rows/columns.ts'
import { sortedByKey } from '../rows/key-order.ts'
import { lockedFailure } from '../rows/skip-locked.ts'

/**
 * How much of the lease a renewal may take, so that there is time for two more tries on other
 * connections before the lease expires, but no less than a busy server needs.
 */
const renewShare = 1 / 6
const renewMsMin = 1_000

/** The verb renew: one statement, which waits for no lock. */
export async function renew(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly (RenewReply | Failure)[]> {
  const sorted = sortedByKey(leases)
  const { now, least } = store.time.moment()
  const values = [
    queue,
    arrayLiteral(sorted.map(({ key }) => key)),
    arrayLiteral(sorted.map(({ entry }) => entry.token)),
    leaseMs,
    now,
    least,
  ]
  // With a clock that is given, a lease is no length of real time.
  const withinMs = now === null ? Math.max(renewMsMin, leaseMs * renewShare) : Infinity
  const rows = await store.run('renew', values, { withinMs })
  const replies = new Array<RenewReply | Failure>(leases.length)
  for (const row of rows) {
    const { key, index } = sorted[number(row['index']) - 1]!
    const outcome = number(row['outcome'])
    if (outcome === 2) replies[index] = lockedFailure(key)
    else if (outcome === 1) replies[index] = { outcome: 'lost', leaseUntil: never }
    else replies[index] = { outcome: 'renewed', leaseUntil: instant(row['lease_until']) }
  }
  return replies
}
