import type { AddOutcome } from '@sluice/core'
import type { OperatorAsk, StoreInspection } from 'sluice'
import { checkedKey, parsedJson } from './input.ts'

/** Marks a key that is the JSON text of its item. */
const jsonMark = 'json:'

/**
 * Asks for a run of what was typed: a key, an item, or both. A key alone that is stored keeps the
 * item it has; one that is not is its own item.
 */
export async function addAsked(
  store: StoreInspection,
  queue: string,
  ask: OperatorAsk,
): Promise<AddOutcome> {
  const { key } = ask
  if (ask.item !== undefined || key === undefined) return await store.add(queue, ask)
  const info = await store.queue(queue).get(checkedKey(key))
  if (info !== undefined) return await store.add(queue, ask)
  const { key: _, ...rest } = ask
  if (!key.startsWith(jsonMark)) return await store.add(queue, { ...rest, item: key })
  return await store.add(queue, { ...rest, item: parsedJson(key, key.slice(jsonMark.length)) })
}
