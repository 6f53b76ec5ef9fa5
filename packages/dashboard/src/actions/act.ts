// This folder is the actions of visitors: checked, carried out and announced.

import { manyWords } from '@sluice/core/words'
import type { BulkResult, Inspect, OperateOutcome, StoreInspection } from 'sluice'
import type { ActionName, ActionRequest, ActionResult } from '../wire.ts'

/** The maximum number of keys that one action changes. */
const bulkMax = 10_000

/** The actions on keys; each is a method of `Inspect` and of a selection. */
type KeyAction = 'runNow' | 'forget' | 'park' | 'unpark' | 'remove'

/** The end of the sentence that reports each action. */
const actionPhrases: Readonly<Record<KeyAction, string>> = {
  runNow: 'made ready',
  forget: 'cleared of failures',
  park: 'parked',
  unpark: 'unparked',
  remove: 'removed',
}

function keysWords(count: number): string {
  return manyWords(count, 'key')
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
  const { queue, key, item, afterMs, priority } = request
  const outcome = await store.add(queue, { key, item, afterMs, priority })
  const words = {
    added: 'The key was added.',
    moved: 'The key was already pending; it now runs earlier.',
    unchanged: 'The key was already pending; nothing changed.',
    parked: 'The key is parked; it will run once it is unparked.',
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
  if (outcome === 'missing') return result(action, 0, 1, 'This key is no longer stored.')
  if (outcome === 'unchanged') return result(action, 0, 1, 'Nothing changed.')
  return result(action, 1, 0, `The key was ${actionPhrases[action]}.`)
}

async function actOnMany(
  inspect: Inspect,
  action: KeyAction,
  { all = {}, expected = 0, forget = false }: ActionRequest,
): Promise<ActionResult> {
  const cap = Math.min(expected, bulkMax)
  if (cap === 0) return result(action, 0, 0, 'No keys matched; nothing changed.')
  const selection = inspect.select({ ...all, cap })
  const done: BulkResult =
    action === 'unpark' ? await selection.unpark({ forget }) : await selection[action]()
  const { changed, unchanged, capped } = done
  const words = [
    `${keysWords(changed)} ${changed === 1 ? 'was' : 'were'} ${actionPhrases[action]}.`,
  ]
  if (unchanged > 0) words.push(`${keysWords(unchanged)} needed no change or no longer existed.`)
  if (capped) words.push(`More than ${keysWords(cap)} match; the others were left unchanged.`)
  return result(action, changed, unchanged, words.join(' '), capped)
}

async function release(inspect: Inspect, request: ActionRequest): Promise<ActionResult> {
  const { key = '', token } = request
  const outcome = await inspect.release(key, token === undefined ? {} : { token })
  if (outcome === 'missing') return result('release', 0, 1, 'This key is no longer stored.')
  if (outcome === 'unchanged') return result('release', 0, 1, 'That run has already ended.')
  return result('release', 1, 0, 'The key was released: another worker can take it.')
}

async function actOnQueue(inspect: Inspect, action: 'pause' | 'resume'): Promise<ActionResult> {
  const outcome = await inspect[action]()
  if (outcome !== 'changed') return result(action, 0, 0, 'Nothing changed.')
  const words = action === 'pause' ? 'The queue was paused.' : 'The queue was resumed.'
  return result(action, 0, 0, words)
}

/** Carries out a checked request. */
export async function act(store: StoreInspection, request: ActionRequest): Promise<ActionResult> {
  const { queue, action, key, forget = false } = request
  const inspect = store.queue(queue)
  switch (action) {
    case 'add':
      return await addKey(store, request)
    case 'release':
      return await release(inspect, request)
    case 'pause':
    case 'resume':
      return await actOnQueue(inspect, action)
    case 'purge': {
      const removed = await inspect.purge()
      return result(action, removed, 0, `The queue was purged: ${keysWords(removed)} deleted.`)
    }
    default:
      return key === undefined
        ? await actOnMany(inspect, action, request)
        : await actOnKey(inspect, action, key, forget)
  }
}
