import type { Counts, EpochMs } from '@sluice/core/driver'
import type { MemoryQueue } from './memory-queue.ts'

/**
 * Counts the keys of a queue by state, up to `cap` of each. Most counts are known; to tell back-off
 * from delay, and dirty from processing, up to `cap` keys are read.
 */
export function countKeys(queue: MemoryQueue, cap: number, now: EpochMs): Counts {
  const { cursor, delayed, holds, readyRows } = queue
  queue.advanceTo(now)
  let capped = false
  const upToCap = (count: number): number => {
    if (count > cap) capped = true
    return Math.min(count, cap)
  }
  const waiting = upToCap(delayed.size)
  let backoff = 0
  for (let at = 0; at < waiting; at += 1) {
    cursor.at(delayed.rowAt(at))
    if (cursor.why === 'backoff') backoff += 1
  }
  const held = upToCap(queue.heldCount)
  cursor.pack()
  let dirty = 0
  for (const row of holds.someRows(held)) {
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
