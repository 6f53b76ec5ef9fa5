import {
  type ExpireOptions,
  type ExpireOutcome,
  type Lease,
  perKeyDelay,
  transitions,
} from '@sluice/core/driver'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/** Gives back keys whose leases have expired. */
export function expireVerb(
  tx: WriteTransaction,
  leases: readonly Lease[],
  { plan, jitter, dedupe, maxCrashes, error }: ExpireOptions,
): ExpireOutcome[] {
  const firstSeq = tx.drawSeqs(leases.length)
  return leases.map(({ key: name, token }, index) => {
    const key = tx.key(name)
    const { state } = key
    const delayMs = plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter ?? 0)
    const seq = firstSeq + index
    return tx.change(key, () => {
      const { now } = tx
      const outcome = transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
      if (outcome !== 'lost') key.lastError = error ?? key.lastError
      return outcome
    })
  })
}
