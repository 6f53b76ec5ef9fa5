import { type CancelOutcome, transitions } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { changeEach } from '../rows/lock-and-change.ts'

/** The verb cancel. */
export async function cancel(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<CancelOutcome[]> {
  return await changeEach(store, queue, keys, ({ state }) => transitions.cancel(state))
}
