import {
  compareKeys,
  type EpochMs,
  type KeyRow,
  type KeyStateWord,
  type ListReply,
  type ListRequest,
  noToken,
  transitions,
} from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import type { SqliteStatement } from '../library/database.ts'
import { holderNames } from '../rows/holder.ts'
import { type KeyColumns, readKeys, type StoredKey, storedKey } from '../rows/key-row.ts'
import type { StoreRow } from '../rows/store-row.ts'

/**
 * The most keys that one page reads. A page of a state that is rare among many keys may therefore
 * be short, or empty, and still not be the last.
 */
const looksMax = 2_000

/** Held and parked keys have an index of their own; for other states all keys are read. */
function sourceOf(statements: Statements, state: KeyStateWord | undefined): SqliteStatement {
  if (state === 'processing' || state === 'dirty') return statements.listHeld
  if (state === 'parked') return statements.listParked
  return statements.listPage
}

/** Lists keys in the order of their bytes. */
export function listVerb(
  statements: Statements,
  { queue, now }: StoreRow,
  request: ListRequest,
): ListReply {
  if (queue === undefined) return { now, rows: [] }
  if (request.keys !== undefined) return listNamed(statements, queue.id, request, request.keys, now)
  const { state, prefix = '', limit } = request
  const source = sourceOf(statements, state)
  const found: StoredKey[] = []
  let looksLeft = Math.max(looksMax, limit)
  let cursor = request.cursor
  for (;;) {
    // One more than fits, to know whether there is a page after this one, and the one before it.
    const least = limit + 2
    const wanted = Math.min(looksLeft + 1, state === undefined ? least : Math.max(least, 256))
    const rows = source.all(queue.id, laterOf(prefix, cursor ?? ''), wanted) as KeyColumns[]
    for (const each of rows) {
      if (each.key === cursor) continue
      if (!each.key.startsWith(prefix)) return page(statements, found, now)
      const stored = storedKey(each)
      if (state === undefined || transitions.stateWord(stored.state, now) === state) {
        if (found.length === limit) return page(statements, found, now, found.at(-1)?.key)
        found.push(stored)
      }
      cursor = each.key
    }
    if (rows.length < wanted) return page(statements, found, now)
    looksLeft -= rows.length
    if (looksLeft <= 0) return page(statements, found, now, cursor)
  }
}

/** The later of two texts in the order of bytes. */
function laterOf(a: string, b: string): string {
  return compareKeys(a, b) >= 0 ? a : b
}

function listNamed(
  statements: Statements,
  queueId: number,
  { state, prefix = '' }: ListRequest,
  keys: readonly string[],
  now: EpochMs,
): ListReply {
  const found = [...readKeys(statements, queueId, [...new Set(keys)]).values()]
    .filter(({ key }) => key.startsWith(prefix))
    .filter((each) => state === undefined || transitions.stateWord(each.state, now) === state)
    .sort((a, b) => compareKeys(a.key, b.key))
  return page(statements, found, now)
}

function page(
  statements: Statements,
  found: readonly StoredKey[],
  now: EpochMs,
  cursor?: string | undefined,
): ListReply {
  const numbers = new Set(found.flatMap(({ holder }) => (holder === null ? [] : [holder])))
  const names = holderNames(statements, numbers)
  const rows = found.map((stored): KeyRow => {
    const { key, state, item, holder, lastError } = stored
    return {
      ...state,
      key,
      state: transitions.stateWord(state, now),
      item: item ?? undefined,
      holder:
        state.token === noToken || holder === null ? undefined : (names.get(holder) ?? undefined),
      lastError: lastError ?? undefined,
    }
  })
  return { now, rows, ...(cursor !== undefined && { cursor }) }
}
