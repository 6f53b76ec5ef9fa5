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
  const { info, inspectedAt: at, ...explanation } = await store.queue(queue).explain(key)
  const line = info === undefined ? undefined : display.line(queue, info, withItem)
  const history = histories.record(queue, key, info, line?.lastError, at)
  return { ...explanation, ...history, at, queue, line }
}
