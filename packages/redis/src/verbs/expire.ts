import type { ExpireOptions, ExpireOutcome, Lease } from '@sluice/core/driver'
import { number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

const outcomes: readonly ExpireOutcome[] = ['expired', 'parked', 'lost']

/** Gives back keys whose leases have expired. */
export async function expire(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  { plan, jitter = 0, dedupe, maxCrashes, error }: ExpireOptions,
): Promise<readonly ExpireOutcome[]> {
  const reply = await store.run('expire', queue, [
    dedupe,
    ...(plan === undefined ? ['0'] : ['1', JSON.stringify(plan)]),
    String(jitter),
    String(maxCrashes),
    error === undefined ? '' : `=${error}`,
    String(leases.length),
    ...leases.flatMap(({ key, token }) => [key, String(token)]),
  ])
  return leases.map((_, index) => outcomes[number(reply[verbStart + index])] ?? 'lost')
}
