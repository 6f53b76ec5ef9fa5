import {
  type Counts,
  compareKeys,
  type EpochMs,
  type KeyRow,
  type ListReply,
  type ListRequest,
  never,
  noToken,
  transitions,
} from '@sluice/core/driver'
import type { MemoryQueue } from './memory-queue.ts'
import { noRow } from './rows/row-links.ts'

/**
 * Counts the keys of a queue by state, up to `cap` of each. Most counts are known; to tell back-off
 * from delay, and dirty from processing, up to `cap` keys are read.
 */
export function countKeys(queue: MemoryQueue, cap: number, now: EpochMs): Counts {
  const { cursor, delayed, readyRows } = queue
  queue.advanceTo(now)
  let capped = false
  const upToCap = (count: number): number => {
    if (count > cap) capped = true
    return Math.min(count, cap)
  }
  const waiting = upToCap(queue.delayedCount)
  let backoff = 0
  for (const row of delayed.someRows(waiting)) {
    cursor.at(row)
    if (cursor.why === 'backoff') backoff += 1
  }
  const held = upToCap(queue.heldCount)
  cursor.pack()
  let dirty = 0
  // A key that was added again is not among the plain ones. The cursor changes the map as it moves.
  for (const row of [...cursor.holds.keys()].slice(0, held)) {
    cursor.at(row)
    if (cursor.dueAt <= now) dirty += 1
  }
  return {
    ready: upToCap(readyRows.size),
    delayed: waiting - backoff,
    backoff,
    processing: held - dirty,
    dirty,
    parked: upToCap(queue.parkedCount),
    idle: upToCap(queue.idleCount),
    capped,
    paused: queue.isPaused,
    oldestReadyAt: readyRows.oldestReadyAt(),
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
    const rows = keys.map((key) => queue.find(key)).filter((row) => row !== noRow)
    return { now, rows: rows.map((row) => keyRow(queue, row, now)) }
  }
  const { cursor, table } = queue
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
    if (state !== undefined) {
      cursor.at(row)
      if (transitions.stateWord(cursor, now) !== state) continue
    }
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

function keyRow({ cursor, table }: MemoryQueue, row: number, now: EpochMs): KeyRow {
  cursor.at(row)
  const isHeld = cursor.token !== noToken
  return {
    key: cursor.key,
    state: transitions.stateWord(cursor, now),
    item: table.itemAt(row),
    holder: isHeld ? cursor.holder : undefined,
    lastError: table.errorAt(row),
    dueAt: cursor.dueAt,
    why: cursor.why,
    laterAt: cursor.laterAt,
    laterWhy: cursor.laterWhy,
    readyAt: cursor.readyAt,
    seq: cursor.seq,
    priority: cursor.priority,
    askedAt: cursor.askedAt,
    trace: cursor.trace,
    token: cursor.token,
    leaseUntil: cursor.leaseUntil,
    // The claimed run is not stored after the claim has ended.
    claimedDueAt: isHeld ? cursor.claimedDueAt : never,
    claimedWhy: isHeld ? cursor.claimedWhy : 'add',
    claimedLaterAt: isHeld ? cursor.claimedLaterAt : never,
    claimedReadyAt: isHeld ? cursor.claimedReadyAt : never,
    claimedSeq: isHeld ? cursor.claimedSeq : 0,
    claimedPriority: isHeld ? cursor.claimedPriority : 0,
    claimedAskedAt: isHeld ? cursor.claimedAskedAt : never,
    claimedTrace: isHeld ? cursor.claimedTrace : undefined,
    failures: cursor.failures,
    crashes: cursor.crashes,
    failedAt: cursor.failedAt,
    parked: cursor.parked,
  }
}
