import { type Counts, type EpochMs, never } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { storedReason } from '../rows/columns.ts'
import type { QueueRow } from '../rows/queue-row.ts'
import type { StoreRow } from '../rows/store-row.ts'
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
  heldUntil: never,
}

/** Up to how many waiting keys are counted in one statement; more are counted by priority. */
const fewMax = 1_000

type AllColumns = Readonly<
  Record<'waiting' | 'ready' | 'backoff' | 'held' | 'dirty' | 'parked' | 'idle', number>
> & { readonly first_at: number | null; readonly until: number | null }

/** Counts the keys of a queue by state, reading at most about `cap` of each. */
export function countsVerb(statements: Statements, { queue, now }: StoreRow, cap: number): Counts {
  return queue === undefined ? nothing : countKeys(statements, queue, cap, now)
}

/** The same for a queue that is known. */
export function countKeys(
  statements: Statements,
  { id, isPaused }: Pick<QueueRow, 'id' | 'isPaused'>,
  cap: number,
  now: EpochMs,
): Counts {
  const few = Math.min(fewMax, 3 * cap)
  const most = cap + 1
  const all = statements.countsAll.get(
    ...[now, storedReason('backoff'), now, id, few + 1],
    // Dirty keys and others that are held are in one index, so they share its cap.
    ...[now, id, 2 * cap + 1, id, most, id, most],
  ) as AllColumns
  const waiting = all.waiting > few ? countWaiting(statements, id, now, cap) : waitingOf(all, cap)
  const processing = counted(cap, all.held - all.dirty)
  const dirty = counted(cap, all.dirty)
  const parked = counted(cap, all.parked)
  const idle = counted(cap, all.idle)
  const each = [waiting.ready, waiting.delayed, waiting.backoff, processing, dirty, parked, idle]
  return {
    ready: waiting.ready.value,
    delayed: waiting.delayed.value,
    backoff: waiting.backoff.value,
    processing: processing.value,
    dirty: dirty.value,
    parked: parked.value,
    idle: idle.value,
    capped: waiting.isCut || each.some(({ isCapped }) => isCapped),
    paused: isPaused,
    oldestReadyAt: waiting.oldestReadyAt,
    heldUntil: all.until ?? never,
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

function waitingOf(columns: AllColumns, cap: number): Waiting {
  const { waiting, ready, backoff, first_at: firstAt } = columns
  return {
    ready: counted(cap, ready),
    delayed: counted(cap, waiting - ready - backoff),
    backoff: counted(cap, backoff),
    isCut: false,
    oldestReadyAt: ready === 0 ? never : (firstAt ?? never),
  }
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
