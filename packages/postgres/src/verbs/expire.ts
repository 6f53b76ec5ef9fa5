import {
  type ExpireOptions,
  type ExpireOutcome,
  type Failure,
  type Lease,
  perKeyDelay,
  transitions,
} from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { changeEach } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'

/** The verb expire. Keys that another transaction has locked fail alone. */
export async function expire(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  { dedupe, plan, jitter, maxCrashes, error }: ExpireOptions,
): Promise<readonly (ExpireOutcome | Failure)[]> {
  return await skipLocked<Lease, ExpireOutcome>({
    entries: leases,
    keyOf: ({ key }) => key,
    findLocked: (keys) => store.locked(queue, keys, false),
    serve(some) {
      const keys = some.map(({ key }) => key)
      return changeEach(store, queue, keys, (entry, { now, seq }, index) => {
        const { state } = entry
        const { token } = some[index]!
        const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter ?? 0)
        const next = seq(index)
        const outcome = transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, next)
        if (outcome !== 'lost') entry.lastError = error ?? entry.lastError
        return outcome
      })
    },
  })
}
