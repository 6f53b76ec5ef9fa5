import {
  type EpochMs,
  type Lease,
  never as neverImported,
  noToken as noTokenImported,
  transitions,
} from '@sluice/core'
import type { StoreTime } from '../store-time.ts'
import type { BucketShelf } from '../token-buckets.ts'
import { WorkerBook } from '../worker-registry.ts'
import { HoldTable } from './hold-table.ts'
import { ReadyLanes } from './ready-by-priority.ts'
import { OrderedRows, type ReadyOrder } from './ready-order.ts'
import type { ReadyRows } from './ready-rows.ts'
import { RowCursor } from './row-cursor.ts'
import { RowHeap } from './row-heap.ts'
import { place as placeImported, type RowLinks } from './row-links.ts'
import { RowTable } from './row-table.ts'
import { StringIndex } from './string-index.ts'

/** At most how many stale rows an add sweeps away, and after how long adds sweep again. */
const sweepRows = 64
const sweepAgainMs = 1_000

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noToken = noTokenImported
const place = placeImported

/** What the queues of one store share. */
export interface MemoryStore {
  readonly time: StoreTime
  readonly shelf: BucketShelf
  /** Queues that may store something; any other one lives only as long as a direct queue is kept. */
  readonly inUse: Set<KeptRows>
  /** The greatest token given out so far. */
  lastToken: number
}

/**
 * The rows of one queue, each kept where its state says: in the line of those that can be claimed,
 * in the heap of the delayed, among the parked, among the idle, or nowhere while it is held.
 *
 * The transitions of core say what state that is; nothing here decides it.
 */
export class KeptRows {
  readonly name: string
  isPaused = false
  readonly table: RowTable
  readonly cursor: RowCursor
  readonly holds: HoldTable = new HoldTable()
  readonly workers: WorkerBook = new WorkerBook()
  readonly line: ReadyRows
  readonly delayed: RowHeap
  /** The leases that end by themselves, by when they do. */
  readonly leases: RowHeap
  /** The heads of the lists of rows that are set aside, and how many there are. */
  readonly idle: number
  readonly parked: number
  idleCount = 0
  parkedCount = 0
  heldCount = 0
  protected readonly store: MemoryStore
  protected readonly links: RowLinks
  protected readonly index: StringIndex
  protected seq = 0
  /** How many keys are owed a run. */
  protected owed = 0
  /** The time up to which the line holds what is due. */
  protected latest: EpochMs = -Infinity
  /** When adds sweep again. */
  protected sweepAt: EpochMs = -Infinity
  /** Whether it is among the queues in use. */
  private isInUse = false

  constructor(name: string, store: MemoryStore, expectedKeys: number, order?: ReadyOrder) {
    this.name = name
    this.store = store
    this.table = new RowTable(expectedKeys)
    this.links = this.table.links
    this.cursor = new RowCursor(this.table, this.holds)
    this.index = new StringIndex(this.table, expectedKeys)
    this.delayed = new RowHeap(this.links)
    this.leases = new RowHeap(this.links)
    this.idle = this.table.takeHead()
    this.parked = this.table.takeHead()
    this.line =
      order === undefined
        ? new ReadyLanes(this.table, this.cursor)
        : new OrderedRows(this.links, this.index, this.cursor, order)
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
    this.bringUpTo(this.store.time.coarse())
    return this.line.size
  }

  nextAt(): EpochMs {
    const leaseEnd = this.leases.firstAt
    if (this.isPaused) return leaseEnd
    return Math.min(leaseEnd, this.line.size > 0 ? this.latest : this.delayed.firstAt)
  }

  /** Leases that are over, at most `limit` of them. */
  leaseEnds(now: EpochMs, limit: number): Lease[] {
    if (this.leases.firstAt > now) return []
    return this.leases.upTo(now, limit).map((row) => {
      this.cursor.at(row)
      return { key: this.cursor.key, token: this.cursor.token }
    })
  }

  /** Drops at most `limit` idle keys whose failures have expired; says how many. */
  sweep(limit: number, failuresExpireMs: number, now: EpochMs): number {
    const { cursor, links } = this
    let swept = 0
    let lookedAt = 0
    let row = links.next(this.idle)
    while (row !== this.idle && swept < limit && lookedAt < 4 * limit) {
      const next = links.next(row)
      lookedAt += 1
      cursor.at(row)
      if (transitions.hasStaleFailures(cursor, now, failuresExpireMs)) {
        transitions.forget(cursor)
        this.keep(now)
        swept += 1
      }
      row = next
    }
    return swept
  }

  /** Sweeps along with adds: rows do not pile up without ticks, or faster than ticks sweep. */
  protected sweepAlong(failuresExpireMs: number, now: EpochMs): void {
    if (this.sweep(sweepRows, failuresExpireMs, now) === sweepRows) return
    this.sweepAt = now + sweepAgainMs
  }

  /** Stays until it stores nothing: see {@link MemoryStore.inUse}. */
  use(): void {
    if (this.isInUse) return
    this.isInUse = true
    this.store.inUse.add(this)
  }

  /** The opposite of {@link use}, if it stores nothing. An order of the caller's is never left. */
  leave(workersSince: EpochMs): void {
    this.workers.forgetBefore(workersSince)
    if (this.isStored || this.line.isTold) return
    this.isInUse = false
    this.store.inUse.delete(this)
  }

  /** Whether anything of the queue is worth storing. */
  get isStored(): boolean {
    return this.size > 0 || this.isPaused || this.workers.size > 0
  }

  /** Moves keys that are due at `now` into the line. Comes first in every verb. */
  bringUpTo(now: EpochMs): void {
    this.latest = now
    if (this.delayed.firstAt <= now) this.ripen(now)
  }

  private ripen(now: EpochMs): void {
    const { cursor, delayed } = this
    while (delayed.firstAt <= now) {
      const row = delayed.first
      delayed.remove(row)
      cursor.at(row)
      this.line.add()
    }
  }

  /** Puts the cursor on a new row, for a key that the index has just not found. */
  protected begin(key: string): void {
    this.use()
    const row = this.table.take(key)
    this.index.addMissed(row)
    this.cursor.atNew(row, key)
  }

  /** What comes after the transitions have let go of a held row. */
  protected letGo(now: EpochMs): void {
    const { cursor } = this
    if (this.leases.size > 0 && this.leases.has(cursor.row)) this.leases.remove(cursor.row)
    this.heldCount -= 1
    if (transitions.isGone(cursor)) {
      this.drop()
    } else {
      cursor.isDirty = true
      this.put(now)
    }
  }

  /** Keeps the cursor's row, which was changed, where its state says; or lets go of it. */
  protected keep(now: EpochMs): void {
    const { cursor } = this
    cursor.isDirty = true
    this.takeOut()
    if (transitions.isGone(cursor)) this.drop()
    else this.put(now)
  }

  /** Takes the cursor's row out of wherever it is kept. */
  private takeOut(): void {
    const { links } = this
    const { row } = this.cursor
    const where = links.placeOf(row)
    if (where === place.line || where === place.side) {
      this.line.remove()
    } else if (where === place.delayed) {
      this.delayed.remove(row)
      links.setPlace(row, place.nowhere)
    } else if (where !== place.nowhere) {
      links.unlink(row)
      if (where === place.idle) this.idleCount -= 1
      else this.parkedCount -= 1
    }
  }

  /** Puts the cursor's row, which is nowhere, where its state says. */
  protected put(now: EpochMs): void {
    const { cursor, links } = this
    const { row } = cursor
    if (cursor.token !== noToken) return
    if (cursor.parked) {
      links.append(this.parked, row, place.parked)
      this.parkedCount += 1
    } else if (cursor.dueAt <= now) {
      this.line.add()
    } else if (cursor.dueAt === never) {
      links.append(this.idle, row, place.idle)
      this.idleCount += 1
    } else {
      this.delayed.add(row, cursor.dueAt, cursor.seq)
      links.setPlace(row, place.delayed)
    }
  }

  /** Lets go of the cursor's row, of which nothing is worth storing. */
  private drop(): void {
    const { cursor } = this
    const { row } = cursor
    this.index.remove(row)
    cursor.leave()
    this.table.giveBack(row)
  }
}
