import {
  type EpochMs,
  type Lease,
  never as neverImported,
  noToken as noTokenImported,
  RecordedHistory,
  type TokenBuckets,
  transitions,
} from '@sluice/core/driver'
import type { StoreTime } from '../store-time.ts'
import { WorkerRegistry } from '../worker-registry.ts'
import { ReadyByPriority } from './ready-by-priority.ts'
import { OrderedRows, type ReadyOrder } from './ready-order.ts'
import type { ReadyRows } from './ready-rows.ts'
import { RowHeap } from './row-heap.ts'
import { list as listImported, noRow as noRowImported, type RowLinks } from './row-links.ts'
import { type RowState, RowStates } from './row-states.ts'
import { RowTable } from './row-table.ts'
import { SortedRows } from './sorted-rows.ts'
import { StringIndex } from './string-index.ts'

/** How many stale rows an add deletes at most, and after how long adds sweep again. */
const sweepRows = 64
const sweepAgainMs = 1_000

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noToken = noTokenImported
const noRow = noRowImported
const list = listImported

/** The state that the queues of one store share. */
export interface MemoryStore {
  readonly time: StoreTime
  readonly buckets: TokenBuckets
  /**
   * Queues that may store something. Any other one lives only as long as its direct queue is
   * referenced.
   */
  readonly inUse: Set<RowStore>
  /** The greatest token given out so far. */
  lastToken: number
}

/**
 * The rows of one queue, each on the list that belongs to its state: the ready rows, the
 * delayed ones, the parked ones, the idle ones, or none while the key is held.
 *
 * The transitions of core decide the state.
 */
export class RowStore {
  readonly name: string
  isPaused = false
  readonly table: RowTable
  readonly states: RowStates
  readonly workers: WorkerRegistry = new WorkerRegistry()
  readonly history: RecordedHistory = new RecordedHistory()
  readonly readyRows: ReadyRows
  readonly delayed: SortedRows
  /** The leases that expire, by when they do. */
  readonly leases: RowHeap
  /** The heads of the lists of idle and of parked rows, and the lengths of those lists. */
  readonly idle: number
  readonly parked: number
  delayedCount = 0
  idleCount = 0
  parkedCount = 0
  heldCount = 0
  protected readonly store: MemoryStore
  protected readonly links: RowLinks
  protected readonly index: StringIndex
  protected seq = 0
  /** How many keys have a pending run. */
  protected pending = 0
  /** The time up to which due rows are among the ready ones. */
  protected latest: EpochMs = -Infinity
  /** No delayed row is due before this. */
  private nextDueAt: EpochMs = never
  /** When adds sweep again. */
  protected sweepAt: EpochMs = -Infinity
  /** Whether it is in {@link MemoryStore.inUse}. */
  private isInUse = false

  constructor(name: string, store: MemoryStore, expectedKeys: number, order?: ReadyOrder) {
    this.name = name
    this.store = store
    this.table = new RowTable(expectedKeys)
    this.links = this.table.links
    this.states = new RowStates(this.table)
    this.index = new StringIndex(this.table, expectedKeys)
    this.delayed = new SortedRows(this.table, this.states, list.delayed)
    this.leases = new RowHeap(this.links)
    this.idle = this.table.allocateHead()
    this.parked = this.table.allocateHead()
    this.readyRows =
      order === undefined
        ? new ReadyByPriority(this.table, this.states)
        : new OrderedRows(this.table, this.index, this.states, order)
  }

  /** How many keys there are, in any state. */
  get size(): number {
    return this.index.size
  }

  /** The row of a key; `noRow` if nothing is stored of it. */
  find(key: string): number {
    return this.index.find(key)
  }

  ready(): number {
    this.advanceTo(this.store.time.coarse())
    return this.readyRows.size
  }

  nextAt(): EpochMs {
    const leaseEnd = this.leases.firstAt
    if (this.isPaused) return leaseEnd
    return Math.min(leaseEnd, this.readyRows.size > 0 ? this.latest : this.delayed.firstAt)
  }

  /** At most `limit` expired leases. */
  leaseEnds(now: EpochMs, limit: number): Lease[] {
    if (this.leases.firstAt > now) return []
    const rows = this.leases.upTo(now, limit)
    return rows.map((row) => ({ key: this.table.keyAt(row), token: this.states.read(row).token }))
  }

  /** Deletes at most `limit` idle keys whose failures have expired; returns how many. */
  sweep(limit: number, failuresExpireMs: number, now: EpochMs): number {
    const { links, states } = this
    let swept = 0
    let lookedAt = 0
    let row = links.next(this.idle)
    while (row !== this.idle && swept < limit && lookedAt < 4 * limit) {
      const next = links.next(row)
      lookedAt += 1
      const state = states.read(row)
      if (transitions.hasStaleFailures(state, now, failuresExpireMs)) {
        transitions.forget(state)
        this.relist(row, state, now)
        swept += 1
      }
      row = next
    }
    return swept
  }

  /**
   * Sweeps as part of an add, so that rows do not pile up without ticks or faster than ticks sweep.
   */
  protected sweepWithAdd(failuresExpireMs: number, now: EpochMs): void {
    if (this.sweep(sweepRows, failuresExpireMs, now) === sweepRows) return
    this.sweepAt = now + sweepAgainMs
  }

  /** Keeps the queue until it stores nothing: see {@link MemoryStore.inUse}. */
  use(): void {
    if (this.isInUse) return
    this.isInUse = true
    this.store.inUse.add(this)
  }

  /** Undoes {@link use} if the queue stores nothing and has no order of the caller's. */
  releaseIfEmpty(now: EpochMs): void {
    if (this.isStored(now) || this.readyRows.needsTouch) return
    this.isInUse = false
    this.store.inUse.delete(this)
  }

  /** Whether anything of the queue is worth storing, once the workers that have gone are deleted. */
  isStored(now: EpochMs): boolean {
    this.workers.deleteGone(now)
    return this.size > 0 || this.isPaused || this.workers.size > 0
  }

  /** Moves rows that are due at `now` to the ready ones. Comes first in every verb. */
  advanceTo(now: EpochMs): void {
    this.latest = now
    if (this.nextDueAt <= now) this.moveDue(now)
  }

  private moveDue(now: EpochMs): void {
    const { delayed, readyRows, states } = this
    let row = delayed.first
    while (row !== noRow && states.dueAtOf(row) <= now) {
      delayed.remove(row)
      this.delayedCount -= 1
      readyRows.add(row, states.priorityOf(row), states.readyAtOf(row), states.seqOf(row))
      row = delayed.first
    }
    this.nextDueAt = delayed.firstAt
  }

  /** Adds a row, which is on no list, to the delayed ones. */
  protected delay(row: number, dueAt: EpochMs, seq: number): void {
    this.delayed.add(row, dueAt, seq)
    this.delayedCount += 1
    if (dueAt < this.nextDueAt) this.nextDueAt = dueAt
  }

  /** A row for a key that the index does not have; its columns have old values. */
  protected create(key: string): number {
    this.use()
    const row = this.table.allocate(key)
    this.index.addMissed(row)
    return row
  }

  /** A row for such a key, of which nothing is stored yet. */
  protected createEmpty(key: string): number {
    const row = this.create(key)
    this.states.addPlain(row, never, 'add', 0, 0, never, 0)
    return row
  }

  /** Stores what a transition that ended the hold of a row has made of its state. */
  protected release(row: number, state: RowState, now: EpochMs): void {
    if (this.leases.size > 0 && this.leases.has(row)) this.leases.remove(row)
    this.heldCount -= 1
    this.relist(row, state, now)
  }

  /** Stores the changed state of a row and moves it to the list of that state, or deletes it. */
  protected relist(row: number, state: RowState, now: EpochMs): void {
    this.unlist(row)
    if (transitions.isGone(state)) this.delete(row)
    else {
      this.states.write(row, state)
      if (state.token === noToken) this.enlist(row, state, now)
    }
  }

  /** Takes a row off its list. */
  private unlist(row: number): void {
    switch (this.links.listOf(row)) {
      case list.ready:
      case list.readySide:
        this.readyRows.remove(row)
        break
      case list.delayed:
      case list.delayedSide:
        this.delayed.remove(row)
        this.delayedCount -= 1
        break
      case list.idle:
        this.links.unlink(row)
        this.idleCount -= 1
        break
      case list.parked:
        this.links.unlink(row)
        this.parkedCount -= 1
    }
  }

  /** Puts a row, which is on no list and not held, on the list of its state. */
  private enlist(row: number, state: RowState, now: EpochMs): void {
    const { links } = this
    if (state.parked) {
      links.append(this.parked, row, list.parked)
      this.parkedCount += 1
    } else if (state.dueAt <= now) {
      this.readyRows.add(row, state.priority, state.readyAt, state.seq)
    } else if (state.dueAt === never) {
      links.append(this.idle, row, list.idle)
      this.idleCount += 1
    } else this.delay(row, state.dueAt, state.seq)
  }

  /** Deletes a row of which nothing remains to be stored. */
  protected delete(row: number): void {
    this.index.remove(row)
    this.states.drop(row)
    this.table.release(row)
  }
}
