import type { BulkResult, Inspect, OperateOutcome, StoreInspection } from 'sluice'
import { breathe } from '../views/yield-to-event-loop.ts'
import type { ActionName, ActionRequest, ActionResult } from '../wire.ts'

/** How many keys one action touches, at the most. */
const bulkMax = 10_000

/** Actions on keys, each the name of a verb of one key and of many. */
type KeyAction = 'runNow' | 'forget' | 'park' | 'unpark' | 'remove'

/** What each action does to keys, in the words of a sentence. */
const deeds: Readonly<Record<KeyAction, string>> = {
  runNow: 'made ready',
  forget: 'freed of their failures',
  park: 'set aside',
  unpark: 'put back in line',
  remove: 'removed',
}

function keysWords(count: number): string {
  return count === 1 ? '1 key' : `${count} keys`
}

function result(
  action: ActionName,
  changed: number,
  unchanged: number,
  words: string,
  capped = false,
): ActionResult {
  return { action, changed, unchanged, capped, words }
}

async function addKey(store: StoreInspection, request: ActionRequest): Promise<ActionResult> {
  const { queue, key, afterMs, priority } = request
  const outcome = await store.add(queue, {
    ...(key === undefined ? {} : { key }),
    ...('item' in request ? { item: request.item } : {}),
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(priority === undefined ? {} : { priority }),
  })
  const words = {
    added: 'The key was asked for.',
    moved: 'The key was waiting already; now it comes earlier, or before others.',
    unchanged: 'As much was asked for already; nothing has changed.',
    parked: 'The key is set aside; it runs once it is put back in line.',
    full: 'The queue is full; nothing was stored.',
  }[outcome]
  const isChanged = outcome === 'added' || outcome === 'moved' || outcome === 'parked'
  return result('add', isChanged ? 1 : 0, isChanged ? 0 : 1, words)
}

async function actOnKey(
  inspect: Inspect,
  action: KeyAction,
  key: string,
  forget: boolean,
): Promise<ActionResult> {
  const outcome: OperateOutcome | 'forgotten' =
    action === 'unpark' ? await inspect.unpark(key, { forget }) : await inspect[action](key)
  if (outcome === 'missing') return result(action, 0, 1, 'Nothing is stored of this key any more.')
  if (outcome === 'unchanged')
    return result(action, 0, 1, 'It was so already; nothing has changed.')
  const deed = action === 'forget' ? 'freed of its failures' : deeds[action]
  return result(action, 1, 0, `The key was ${deed}.`)
}

async function actOnMany(
  inspect: Inspect,
  action: KeyAction,
  { all = {}, expected = 0, forget = false }: ActionRequest,
): Promise<ActionResult> {
  const cap = Math.min(expected, bulkMax)
  if (cap === 0) return result(action, 0, 0, 'No key was meant; nothing has changed.')
  const selection = inspect.select({ ...all, cap })
  await breathe()
  const done: BulkResult =
    action === 'unpark' ? await selection.unpark({ forget }) : await selection[action]()
  const { changed, unchanged, capped } = done
  const words = [`${keysWords(changed)} ${changed === 1 ? 'was' : 'were'} ${deeds[action]}.`]
  if (unchanged > 0) words.push(`${keysWords(unchanged)} needed no change, or had gone.`)
  if (capped) words.push(`There are more than ${keysWords(cap)}: the others were left alone.`)
  return result(action, changed, unchanged, words.join(' '), capped)
}

async function actOnQueue(inspect: Inspect, action: 'pause' | 'resume'): Promise<ActionResult> {
  const outcome = await inspect[action]()
  if (outcome !== 'changed') return result(action, 0, 0, 'It was so already; nothing has changed.')
  const words = action === 'pause' ? 'The queue was paused.' : 'The queue goes on.'
  return result(action, 0, 0, words)
}

/** Does what somebody asked for, which was checked before. */
export async function act(store: StoreInspection, request: ActionRequest): Promise<ActionResult> {
  const { queue, action, key, forget = false } = request
  const inspect = store.queue(queue)
  switch (action) {
    case 'add':
      return await addKey(store, request)
    case 'pause':
    case 'resume':
      return await actOnQueue(inspect, action)
    case 'purge': {
      const removed = await inspect.purge()
      return result(action, removed, 0, `The queue was emptied of ${keysWords(removed)}.`)
    }
    default:
      return key === undefined
        ? await actOnMany(inspect, action, request)
        : await actOnKey(inspect, action, key, forget)
  }
}
