import { type CancelOutcome, type Failure, transitions } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { changeEach } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'

/** The verb cancel. Keys that another transaction has locked fail alone. */
export async function cancel(
  store: Store,
  queue: string,
  keys: readonly string[],
): Promise<readonly (CancelOutcome | Failure)[]> {
  return await skipLocked<string, CancelOutcome>({
    entries: keys,
    keyOf: (key) => key,
    serve: (some) => changeEach(store, queue, some, ({ state }) => transitions.cancel(state)),
    findLocked: (some) => store.locked(queue, some, false),
  })
}
