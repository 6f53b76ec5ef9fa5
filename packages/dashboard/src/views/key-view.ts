import type { StoreInspection } from 'sluice'
import type { KeyDisplay } from './find-keys.ts'
import type { KeyTrails } from './key-history.ts'
import type { KeyView } from '../wire.ts'

/** What looking at a key needs. */
export interface KeyLookParts {
  readonly store: StoreInspection
  readonly display: KeyDisplay
  readonly trails: KeyTrails
}

/** Looks at one key. */
export async function lookAtKey(
  { store, display, trails }: KeyLookParts,
  queue: string,
  key: string,
  withItem: boolean,
): Promise<KeyView> {
  const explanation = await store.queue(queue).explain(key)
  const { info, state, blockedBy, conditions, next, retry, estimate, inspectedAt: at } = explanation
  const line = info === undefined ? undefined : display.line(queue, info, withItem)
  return {
    at,
    queue,
    key,
    state,
    conditions,
    ...(line === undefined ? {} : { line }),
    ...(blockedBy === undefined ? {} : { blockedBy }),
    ...(next === undefined ? {} : { next }),
    ...(retry === undefined ? {} : { retry }),
    ...(estimate === undefined ? {} : { estimate }),
    ...trails.see(queue, key, info, line?.lastError, at),
  }
}
