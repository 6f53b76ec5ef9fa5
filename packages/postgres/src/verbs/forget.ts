import { type Failure, type ForgetOutcome, transitions } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { changeEach } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'

/** The verb forget. Keys that another transaction has locked fail alone. */
export async function forget(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<readonly (ForgetOutcome | Failure)[]> {
  return await skipLocked<string, ForgetOutcome>({
    entries: keys,
    keyOf: (key) => key,
    serve: (some) => changeEach(store, queue, some, ({ state }) => transitions.forget(state)),
    findLocked: (some) => store.locked(queue, some, false),
  })
}
