import { type ForgetOutcome, transitions } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { changeEach } from '../rows/lock-and-change.ts'

/** The verb forget. */
export async function forget(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<ForgetOutcome[]> {
  return await changeEach(store, queue, keys, ({ state }) => transitions.forget(state))
}
