import { type ForgetOutcome, transitions } from '@sluice/core/driver'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/** Sets the failures and crashes of keys to zero. */
export function forgetVerb(tx: WriteTransaction, keys: readonly string[]): ForgetOutcome[] {
  const known = tx.keys(keys)
  return keys.map((name) => {
    const key = known.get(name)
    if (key === undefined) return 'unchanged'
    return tx.change(key, ({ state }) => transitions.forget(state))
  })
}
