import { type Counts, type EpochMs, never } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { storedReason } from '../rows/columns.ts'
import { findQueue } from '../rows/queue-row.ts'
import type { Level } from './claim.ts'

/** Every priority that has pending keys, and when the first key of each is ready. */
export function levelsOf(statements: Statements, queueId: number): readonly Level[] {
  return statements.tickLevels.all(queueId, queueId) as Level[]
}

/** A count that stops at a cap and records whether it did. */
class CappedCount {
  readonly #cap: number
  #n = 0
  isCapped = false

  constructor(cap: number) {
    this.#cap = cap
  }

  /** How many more keys to count to find out whether there are more than the cap. */
  get room(): number {
    return this.#cap + 1 - this.#n
  }

  get value(): number {
    return Math.min(this.#n, this.#cap)
  }

  add(n: number): void {
    this.#n += n
    if (this.#n > this.#cap) this.isCapped = true
  }
}

const nothing: Counts = {
  ready: 0,
  delayed: 0,
  backoff: 0,
  processing: 0,
  dirty: 0,
  parked: 0,
  idle: 0,
  capped: false,
  paused: false,
  oldestReadyAt: never,
}

/** Counts keys by state, reading at most about `cap` of each. */
export function countVerb(
  statements: Statements,
  queue: string,
  cap: number,
  now: EpochMs,
): Counts {
  const row = findQueue(statements, queue)
  if (row === undefined) return nothing
  const waiting = countWaiting(statements, row.id, now, cap)
  const held = statements.countsHeld.get(now, row.id, cap + 1) as Record<'held' | 'dirty', number>
  const processing = counted(cap, held.held - held.dirty)
  const dirty = counted(cap, held.dirty)
  const parked = counted(cap, (statements.countsParked.get(row.id, cap + 1) as { n: number }).n)
  const idle = counted(cap, (statements.countsIdle.get(row.id, cap + 1) as { n: number }).n)
  const all = [waiting.ready, waiting.delayed, waiting.backoff, processing, dirty, parked, idle]
  return {
    ready: waiting.ready.value,
    delayed: waiting.delayed.value,
    backoff: waiting.backoff.value,
    processing: processing.value,
    dirty: dirty.value,
    parked: parked.value,
    idle: idle.value,
    capped: held.held > cap || waiting.isCut || all.some(({ isCapped }) => isCapped),
    paused: row.isPaused,
    oldestReadyAt: waiting.oldestReadyAt,
  }
}

function counted(cap: number, n: number): CappedCount {
  const count = new CappedCount(cap)
  count.add(n)
  return count
}

interface Waiting {
  readonly ready: CappedCount
  readonly delayed: CappedCount
  readonly backoff: CappedCount
  /** Whether some keys that are due later were not read. */
  readonly isCut: boolean
  readonly oldestReadyAt: EpochMs
}

function countWaiting(statements: Statements, queueId: number, now: EpochMs, cap: number): Waiting {
  const ready = new CappedCount(cap)
  const delayed = new CappedCount(cap)
  const backoff = new CappedCount(cap)
  let oldestReadyAt = never
  // Delayed keys and keys in back-off are in one index, so they share its cap.
  let laterLeft = 2 * cap + 1
  for (const { priority, ready_at } of levelsOf(statements, queueId)) {
    if (ready_at <= now) {
      oldestReadyAt = Math.min(oldestReadyAt, ready_at)
      const limit = Math.max(0, ready.room)
      const row = statements.countsReady.get(queueId, priority, now, limit) as {
        readonly n: number
      }
      ready.add(row.n)
    }
    if (laterLeft <= 0) continue
    const rows = statements.countsDelayed.all(queueId, priority, now, laterLeft) as {
      readonly due_why: number
      readonly n: number
    }[]
    for (const { due_why, n } of rows) {
      laterLeft -= n
      if (due_why === storedReason('backoff')) backoff.add(n)
      else delayed.add(n)
    }
  }
  return { ready, delayed, backoff, isCut: laterLeft <= 0, oldestReadyAt }
}
