import {
  compareKeys,
  type DueReason,
  type KeyRow,
  type KeyState,
  type ListReply,
  type ListRequest,
  noToken,
  transitions,
} from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { number, numbers, text } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** The most keys that one page looks at: a page of a rare state may be short, and not the last. */
const looksMax = 2_000

/** The most keys that one script reads. */
const scriptKeysMax = 500

function rowOf(reply: Reply, now: number): KeyRow {
  const [key, item, error, holder, why, laterWhy, claimedWhy, cells, trace, claimedTrace] =
    reply as readonly Reply[]
  const [
    dueAt = 0,
    laterAt = 0,
    readyAt = 0,
    seq = 0,
    priority = 0,
    askedAt = 0,
    token = 0,
    leaseUntil = 0,
    claimedDueAt = 0,
    claimedLaterAt = 0,
    claimedReadyAt = 0,
    claimedSeq = 0,
    claimedPriority = 0,
    claimedAskedAt = 0,
    failures = 0,
    crashes = 0,
    failedAt = 0,
    parked = 0,
  ] = numbers(cells)
  const state: KeyState = {
    dueAt,
    why: why as DueReason,
    laterAt,
    laterWhy: laterWhy as DueReason,
    readyAt,
    seq,
    priority,
    askedAt,
    trace: text(trace),
    token,
    leaseUntil,
    claimedDueAt,
    claimedWhy: claimedWhy as DueReason,
    claimedLaterAt,
    claimedReadyAt,
    claimedSeq,
    claimedPriority,
    claimedAskedAt,
    claimedTrace: text(claimedTrace),
    failures,
    crashes,
    failedAt,
    parked: parked === 1,
  }
  return {
    ...state,
    key: String(key),
    state: transitions.stateWord(state, now),
    item: typeof item === 'string' ? item : undefined,
    holder: token !== noToken && typeof holder === 'string' ? holder : undefined,
    lastError: typeof error === 'string' ? error : undefined,
  }
}

function rowsOf(reply: readonly Reply[], now: number): KeyRow[] {
  return reply.slice(verbStart + 2).map((row) => rowOf(row, now))
}

/** Reads the rows of some keys, a script's worth at a time, and at least once, for the store's time. */
async function* readNamed(
  store: Store,
  queue: string,
  names: readonly string[],
  bytesMax: number,
): AsyncGenerator<{ readonly now: number; readonly rows: readonly KeyRow[] }, void> {
  for (let at = 0; at < names.length || at === 0; ) {
    const some = names.slice(at, at + scriptKeysMax)
    const reply = await store.run('list', queue, [String(bytesMax), String(some.length), ...some])
    const now = number(reply[0])
    yield { now, rows: rowsOf(reply, now) }
    at += Math.abs(number(reply[verbStart])) || scriptKeysMax
  }
}

/** The names of the held or the dirty keys after a cursor, in the order of their bytes. */
async function heldNames(
  store: Store,
  queue: string,
  { state, prefix = '', cursor = '' }: ListRequest,
): Promise<readonly string[]> {
  // What a script reads costs the server five times as much. This one says the time, and refuses a newer layout.
  const [now = ''] = await store.run('list', queue, ['0', '0'])
  const { held, dirty } = store.layout.of(queue)
  const dueUntilNow = ['ZRANGEBYSCORE', dirty, '-inf', String(now)]
  const all = await store.readOf(
    queue,
    held,
    state === 'dirty' ? dueUntilNow : ['ZRANGE', held, '0', '-1'],
  )
  return (
    (all as readonly Reply[])
      .map(String)
      .filter((key) => key.startsWith(prefix) && compareKeys(key, cursor) > 0)
      // The first sort is the engine's own, and leaves little to the second one, which is slow.
      .sort()
      .sort(compareKeys)
  )
}

/** Lists keys in the order of their bytes. */
export async function list(
  store: Store,
  queue: string,
  request: ListRequest,
  bytesMax: number,
): Promise<ListReply> {
  const { keys, state, prefix = '', limit } = request
  const fits = (row: KeyRow): boolean => state === undefined || row.state === state
  const found: KeyRow[] = []
  if (keys !== undefined) {
    // The placeholder of every queue has the empty name.
    const names = [...new Set(keys)].filter((key) => key !== '')
    let now = 0
    for await (const read of readNamed(store, queue, names, bytesMax)) {
      now = read.now
      found.push(...read.rows.filter((row) => row.key.startsWith(prefix) && fits(row)))
    }
    return { now, rows: found.sort((a, b) => compareKeys(a.key, b.key)) }
  }
  if (state === 'processing' || state === 'dirty') {
    const all = await heldNames(store, queue, request)
    const names = all.slice(0, Math.max(looksMax, limit + 1))
    let now = 0
    for await (const read of readNamed(store, queue, names, bytesMax)) {
      now = read.now
      for (const row of read.rows.filter(fits)) {
        if (found.length === limit) return { now, rows: found, cursor: found.at(-1)!.key }
        found.push(row)
      }
    }
    return { now, rows: found, ...(names.length < all.length && { cursor: names.at(-1)! }) }
  }
  const source = state === 'parked' ? 'parked' : 'keys'
  let cursor = request.cursor ?? ''
  let looksLeft = Math.max(looksMax, limit)
  for (;;) {
    const from = compareKeys(prefix, cursor) > 0 ? `[${prefix}` : `(${cursor}`
    // One more than fits, to know whether there is a page after this one.
    const wanted = Math.min(scriptKeysMax, state === undefined ? limit - found.length + 1 : 256)
    const args = [String(bytesMax), '-1', source, from, String(wanted)]
    const reply = await store.run('list', queue, args)
    const now = number(reply[0])
    for (const row of rowsOf(reply, now)) {
      if (!row.key.startsWith(prefix)) return { now, rows: found }
      if (fits(row)) {
        if (found.length === limit) return { now, rows: found, cursor: found.at(-1)!.key }
        found.push(row)
      }
    }
    // In a damaged queue, the last key may have no row.
    cursor = String(reply[verbStart + 1])
    const looked = number(reply[verbStart])
    if (looked >= 0 && looked < wanted) return { now, rows: found }
    looksLeft -= Math.abs(looked)
    if (looksLeft <= 0) return { now, rows: found, cursor }
  }
}
