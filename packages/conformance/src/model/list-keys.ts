import {
  type Counts,
  type EpochMs,
  type KeyRow,
  type KeyStateWord,
  type ListReply,
  type ListRequest,
  never,
  noToken,
} from '@sluice/core'
import type { ModelKey } from './model-store.ts'
import type { Rules } from './rules.ts'

/** Counts keys by their state, up to `cap` of each. */
export function countKeys(
  keys: readonly ModelKey[],
  rules: Rules,
  paused: boolean,
  cap: number,
  now: EpochMs,
): Counts {
  const counts: Record<KeyStateWord, number> = {
    ready: 0,
    delayed: 0,
    backoff: 0,
    processing: 0,
    dirty: 0,
    parked: 0,
    idle: 0,
  }
  let capped = false
  let oldestReadyAt = never
  const leaseEnds = keys
    .filter(({ state }) => state.token !== noToken)
    .map(({ state }) => state.leaseUntil)
  for (const { state } of keys) {
    const word = rules.stateWord(state, now)
    if (word === 'ready') oldestReadyAt = Math.min(oldestReadyAt, state.readyAt)
    if (counts[word] === cap) capped = true
    else counts[word] += 1
  }
  const heldUntil = leaseEnds.length === 0 ? never : Math.max(...leaseEnds)
  return { ...counts, capped, paused, oldestReadyAt, heldUntil }
}

function rowOf({ key, item, holder, lastError, state }: ModelKey, word: KeyStateWord): KeyRow {
  return {
    ...state,
    key,
    state: word,
    item,
    holder: state.token === noToken ? undefined : holder,
    lastError,
  }
}

/** One page of keys, sorted by their bytes. The cursor is the last key of the page. */
export function listKeys(
  keys: readonly ModelKey[],
  rules: Rules,
  request: ListRequest,
  now: EpochMs,
): ListReply {
  const { state, prefix = '', cursor } = request
  const wanted = request.keys === undefined ? undefined : new Set(request.keys)
  const after = cursor === undefined ? undefined : Buffer.from(cursor)
  const found = keys
    .filter(({ key }) => wanted === undefined || wanted.has(key))
    .filter(({ key }) => key.startsWith(prefix))
    .map((entry) => ({
      entry,
      word: rules.stateWord(entry.state, now),
      bytes: Buffer.from(entry.key),
    }))
    .filter(({ bytes }) => after === undefined || Buffer.compare(bytes, after) > 0)
    .filter(({ word }) => state === undefined || word === state)
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  const page = wanted === undefined ? found.slice(0, request.limit) : found
  const rows = page.map(({ entry, word }) => rowOf(entry, word))
  if (wanted !== undefined) return { now, rows }
  const last = rows.at(-1)
  return {
    now,
    rows,
    ...(last !== undefined && rows.length < found.length && { cursor: last.key }),
  }
}
