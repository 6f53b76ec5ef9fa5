import { type CancelOutcome, transitions } from '@sluice/core/driver'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/** Removes the pending runs of keys. */
export function cancelVerb(tx: WriteTransaction, keys: readonly string[]): CancelOutcome[] {
  const known = tx.keys(keys)
  return keys.map((name) => {
    const key = known.get(name)
    if (key === undefined) return 'unchanged'
    return tx.change(key, ({ state }) => transitions.cancel(state))
  })
}
