import type { StoreInspection } from 'sluice'
import type { KeyView } from '../wire.ts'
import type { KeyDisplay } from './key-display.ts'
import type { KeyHistories } from './key-history.ts'

/** The parts that a key view is read from. */
export interface KeyViewParts {
  readonly store: StoreInspection
  readonly display: KeyDisplay
  readonly histories: KeyHistories
}

/** Reads the view of one key. */
export async function readKeyView(
  { store, display, histories }: KeyViewParts,
  queue: string,
  key: string,
  withItem: boolean,
): Promise<KeyView> {
  const explanation = await store.queue(queue).explain(key)
  const { info, state, blockedBy, next, retry, estimate, inspectedAt: at } = explanation
  // Not that of the dashboard's own queue object: those of the application may be shut down all the same.
  const conditions = explanation.conditions.filter(({ code }) => code !== 'QUEUE_SHUTTING_DOWN')
  const line = info === undefined ? undefined : display.line(queue, info, withItem)
  const history = histories.record(queue, key, info, line?.lastError, at)
  // Named, so that no member that is added to explanations reaches the page with what it hides.
  return { at, queue, key, line, state, blockedBy, conditions, next, retry, estimate, ...history }
}
