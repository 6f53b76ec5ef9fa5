import { type EpochMs, never } from '@sluice/core'
import type { ReadyRows } from './ready-rows.ts'
import type { RowCursor } from './row-cursor.ts'
import { RowHeap } from './row-heap.ts'
import { noRow as noRowImported, place as placeImported, type RowLinks } from './row-links.ts'
import type { RowTable } from './row-table.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported
const place = placeImported

/** The ready rows of one priority. */
interface Lane {
  readonly priority: number
  /** The head of a list in the order of (`readyAt`, `seq`). */
  readonly head: number
  /** What came last at the end of the list, whether it is still there or not. */
  lastReadyAt: EpochMs
  lastSeq: number
  /** Rows that came out of order, when there have been some. */
  side: RowHeap | undefined
  /** Where the lane stands among the others. */
  index: number
}

/**
 * The ready rows in strict order: by priority, then `readyAt`, then `seq`.
 *
 * Nearly every row that becomes ready belongs at the end of its lane, and a list is all it takes.
 * One that was put back in its old place goes to a heap beside the list; the next row to be claimed
 * is the first of both.
 */
export class ReadyLanes implements ReadyRows {
  size = 0
  readonly isTold = false
  private readonly table: RowTable
  private readonly links: RowLinks
  private readonly cursor: RowCursor
  /** For priority 0, which most queues use alone. */
  private readonly plain: Lane
  /** All of them, the highest priority first. */
  private readonly lanes: Lane[]
  /** No lane before this one has rows. */
  private first = 0
  /** A row that is the only one is not in its lane yet: most are claimed before another comes. */
  private only: number = noRow
  private onlyPriority = 0
  private onlyReadyAt: EpochMs = 0.5
  private onlySeq = 0.5

  constructor(table: RowTable, cursor: RowCursor) {
    this.table = table
    this.links = table.links
    this.cursor = cursor
    this.plain = newLane(table, 0)
    this.lanes = [this.plain]
  }

  add(): void {
    const { row, priority, readyAt, seq } = this.cursor
    this.size += 1
    if (this.size === 1) {
      this.only = row
      this.onlyPriority = priority
      this.onlyReadyAt = readyAt
      this.onlySeq = seq
      this.links.setPlace(row, place.line)
      return
    }
    if (this.only !== noRow) this.lineUp()
    this.enter(row, priority, readyAt, seq)
  }

  remove(): void {
    const { row } = this.cursor
    this.size -= 1
    if (row === this.only) {
      this.only = noRow
      this.links.setPlace(row, place.nowhere)
    } else if (this.links.placeOf(row) === place.line) {
      this.links.unlink(row)
    } else {
      this.removeFromSide(row)
    }
  }

  touch(): void {}

  peek(): number {
    if (this.size === 0 || this.only !== noRow) return this.only
    for (;;) {
      const lane = this.lanes[this.first]!
      const row = this.links.next(lane.head)
      if (lane.side !== undefined && lane.side.size > 0) {
        const { first } = lane.side
        return row === lane.head || this.isBefore(first, row) ? first : row
      }
      if (row !== lane.head) return row
      this.first += 1
    }
  }

  pick(dueBy: EpochMs): number {
    if (this.only !== noRow) this.lineUp()
    for (const lane of this.lanes) {
      const due = this.rowsOf(lane).filter((row) => this.dueAt(row) <= dueBy)
      if (due.length > 0) return due.reduce((a, b) => (this.isBefore(a, b) ? a : b))
    }
    return noRow
  }

  oldestReadyAt(): EpochMs {
    if (this.only !== noRow) this.lineUp()
    let oldest = never
    for (const { head, side } of this.lanes) {
      const row = this.links.next(head)
      if (row !== head) {
        this.cursor.at(row)
        oldest = Math.min(oldest, this.cursor.readyAt)
      }
      if (side !== undefined) oldest = Math.min(oldest, side.firstAt)
    }
    return oldest
  }

  private dueAt(row: number): EpochMs {
    this.cursor.at(row)
    return this.cursor.dueAt
  }

  private isBefore(row: number, other: number): boolean {
    this.cursor.at(row)
    const { readyAt, seq } = this.cursor
    this.cursor.at(other)
    return (
      readyAt < this.cursor.readyAt || (readyAt === this.cursor.readyAt && seq < this.cursor.seq)
    )
  }

  /** Puts the only row into its lane. */
  private lineUp(): void {
    const row = this.only
    this.only = noRow
    this.enter(row, this.onlyPriority, this.onlyReadyAt, this.onlySeq)
  }

  private enter(row: number, priority: number, readyAt: EpochMs, seq: number): void {
    const { links } = this
    const lane = priority === 0 ? this.plain : this.laneOf(priority)
    const isLast =
      readyAt > lane.lastReadyAt || (readyAt === lane.lastReadyAt && seq > lane.lastSeq)
    if (isLast || links.next(lane.head) === lane.head) {
      links.append(lane.head, row, place.line)
      lane.lastReadyAt = readyAt
      lane.lastSeq = seq
    } else {
      lane.side ??= new RowHeap(links)
      lane.side.add(row, readyAt, seq)
      links.setPlace(row, place.side)
    }
    if (lane.index < this.first) this.first = lane.index
  }

  private removeFromSide(row: number): void {
    this.lanes.find(({ side }) => side?.has(row))!.side!.remove(row)
    this.links.setPlace(row, place.nowhere)
  }

  private rowsOf({ head, side }: Lane): number[] {
    const rows: number[] = []
    for (let row = this.links.next(head); row !== head; row = this.links.next(row)) rows.push(row)
    for (let at = 0; side !== undefined && at < side.size; at += 1) rows.push(side.rowAt(at))
    return rows
  }

  private laneOf(priority: number): Lane {
    const { lanes } = this
    let low = 0
    let high = lanes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (lanes[middle]!.priority > priority) low = middle + 1
      else high = middle
    }
    const found = lanes[low]
    if (found !== undefined && found.priority === priority) return found
    const lane = newLane(this.table, priority)
    lanes.splice(low, 0, lane)
    for (let index = low; index < lanes.length; index += 1) lanes[index]!.index = index
    if (low <= this.first) this.first += 1
    return lane
  }
}

function newLane(table: RowTable, priority: number): Lane {
  return {
    priority,
    head: table.takeHead(),
    lastReadyAt: -Infinity,
    lastSeq: 0,
    side: undefined,
    index: 0,
  }
}
