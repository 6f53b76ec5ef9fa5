import { type Lease, never, type RenewReply } from '@sluice/core/driver'
import { instant, number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** Extends leases. */
export async function renew(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly RenewReply[]> {
  const reply = await store.run('renew', queue, [
    instant(leaseMs),
    String(leases.length),
    ...leases.flatMap(({ key, token }) => [key, String(token)]),
  ])
  return leases.map((_, index): RenewReply => {
    const end = reply[verbStart + index]
    return end === ''
      ? { outcome: 'lost', leaseUntil: never }
      : { outcome: 'renewed', leaseUntil: number(end) }
  })
}
