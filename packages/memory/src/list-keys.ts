import {
  type Counts,
  compareKeys,
  type EpochMs,
  emptyKeyState,
  type KeyRow,
  type ListReply,
  type ListRequest,
  never,
  noToken,
  transitions,
} from '@sluice/core/driver'
import type { MemoryQueue } from './memory-queue.ts'
import { noRow } from './rows/row-links.ts'
import { text } from './rows/row-table.ts'

/** The members of a claimed run, of a key that is not held. */
const notClaimed = Object.fromEntries(
  Object.entries(emptyKeyState()).filter(([member]) => member.startsWith('claimed')),
)

/**
 * Counts the keys of a queue by state, up to `cap` of each. Most counts are known; to tell back-off
 * from delay, up to twice `cap` keys are read, and to tell dirty from processing, the rows that have an object.
 */
export function countKeys(queue: MemoryQueue, cap: number, now: EpochMs): Counts {
  const { delayed, heldCount, readyRows, states } = queue
  queue.advanceTo(now)
  let capped = false
  const upToCap = (count: number): number => {
    if (count > cap) capped = true
    return Math.min(count, cap)
  }
  const waiting = delayed.someRows(2 * cap + 1)
  const backoff = waiting.filter((row) => states.read(row).why === 'backoff').length
  // A held key with a pending run or a lease has an object.
  const held = [...(heldCount > 0 ? states.objects : [])].filter(({ token }) => token !== noToken)
  const dirty = held.filter(({ dueAt }) => dueAt <= now).length
  const leaseEnds = held.length < heldCount ? [] : held.map(({ leaseUntil }) => leaseUntil)
  return {
    ready: upToCap(readyRows.size),
    delayed: upToCap(waiting.length - backoff),
    backoff: upToCap(backoff),
    processing: upToCap(heldCount - dirty),
    dirty: upToCap(dirty),
    parked: upToCap(queue.parkedCount),
    idle: upToCap(queue.idleCount),
    capped,
    paused: queue.isPaused,
    oldestReadyAt: readyRows.oldestReadyAt(),
    heldUntil: leaseEnds.reduce((last, end) => Math.max(last, end), leaseEnds[0] ?? never),
  }
}

/**
 * Lists keys in the order of their bytes.
 *
 * A page looks at every key of the queue, since memory keeps no order of keys: about 50 ns for
 * each, during which nothing else happens. It sorts only what can still be on the page.
 */
export function listKeys(queue: MemoryQueue, request: ListRequest, now: EpochMs): ListReply {
  const { keys, state, prefix = '', cursor: after, limit } = request
  if (keys !== undefined) {
    const found = [...new Set(keys)].filter((key) => key.startsWith(prefix)).map(queue.find, queue)
    const rows = found.filter((row) => row !== noRow).map((row) => keyRow(queue, row, now))
    return { now, rows: rows.filter((row) => !state || row.state === state) }
  }
  const { states, table } = queue
  const page: { readonly key: string; readonly row: number }[] = []
  const trim = (): void => {
    page.sort((a, b) => compareKeys(a.key, b.key))
    page.length = Math.min(page.length, limit + 1)
  }
  let isTrimmed = false
  for (let row = 1; row < table.used; row += 1) {
    const key = table.keyAt(row)
    // Rows without a key are free, or the heads of lists.
    if (key === '' || !key.startsWith(prefix)) continue
    if (after !== undefined && compareKeys(key, after) <= 0) continue
    if (isTrimmed && compareKeys(key, page[limit]!.key) > 0) continue
    if (state !== undefined && transitions.stateWord(states.read(row), now) !== state) continue
    page.push({ key, row })
    if (page.length > 2 * limit + 2) {
      trim()
      isTrimmed = true
    }
  }
  trim()
  const rows = page.slice(0, limit).map(({ row }) => keyRow(queue, row, now))
  return { now, rows, ...(page.length > limit && { cursor: page[limit - 1]!.key }) }
}

function keyRow({ states, table }: MemoryQueue, row: number, now: EpochMs): KeyRow {
  const state = states.read(row)
  const isHeld = state.token !== noToken
  return {
    ...state,
    // The claimed run is not stored after the claim has ended.
    ...(!isHeld && notClaimed),
    key: table.keyAt(row),
    state: transitions.stateWord(state, now),
    item: table.itemAt(row),
    holder: isHeld ? state.holder : undefined,
    lastError: table.textAt(text.error, row),
  }
}
