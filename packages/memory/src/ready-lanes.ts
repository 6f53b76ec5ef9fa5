import { type EpochMs, never } from '@sluice/core'
import type { ReadyRows } from './ready-rows.ts'
import { place, type RowCursor } from './row-cursor.ts'
import { RowHeap } from './row-heap.ts'
import { noRow } from './row-links.ts'
import { numberColumn, type RowTable } from './row-table.ts'

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
 * One that was put back in its old place, or that comes after the wall was set back, goes to a heap
 * beside the list; who takes the next row looks at the first of both.
 */
export class ReadyLanes implements ReadyRows {
  size = 0
  readonly #table: RowTable
  /** For priority 0, which most queues use alone. */
  readonly #plain: Lane
  /** All of them, the highest priority first. */
  readonly #lanes: Lane[]
  /** No lane before this one has rows. */
  #first = 0

  constructor(table: RowTable) {
    this.#table = table
    this.#plain = newLane(table, 0)
    this.#lanes = [this.#plain]
  }

  add(cursor: RowCursor): void {
    const { row, priority, readyAt, seq } = cursor
    const lane = priority === 0 ? this.#plain : this.#laneOf(priority)
    const { links } = this.#table
    const isLast =
      readyAt > lane.lastReadyAt || (readyAt === lane.lastReadyAt && seq > lane.lastSeq)
    if (isLast || links.isEmpty(lane.head)) {
      links.append(lane.head, row)
      lane.lastReadyAt = readyAt
      lane.lastSeq = seq
      cursor.place = place.line
    } else {
      lane.side ??= new RowHeap(links)
      lane.side.add(row, readyAt, seq)
      cursor.place = place.side
    }
    if (lane.index < this.#first) this.#first = lane.index
    this.size += 1
  }

  remove(cursor: RowCursor): void {
    const { row } = cursor
    if (cursor.place === place.line) this.#table.links.unlink(row)
    else this.#lanes.find(({ side }) => side?.has(row))!.side!.remove(row)
    this.size -= 1
  }

  touch(): void {}

  peek(): number {
    if (this.size === 0) return noRow
    const { links } = this.#table
    for (;;) {
      const lane = this.#lanes[this.#first]!
      const row = links.first(lane.head)
      if (lane.side !== undefined && lane.side.size > 0) {
        return row === lane.head || this.#isSideFirst(lane.side, row) ? lane.side.first : row
      }
      if (row !== lane.head) return row
      this.#first += 1
    }
  }

  pick(dueBy: EpochMs): number {
    for (const lane of this.#lanes) {
      let best = this.#inList(lane).find((row) => this.#dueAt(row) <= dueBy) ?? noRow
      for (const row of this.#inSide(lane)) {
        if (this.#dueAt(row) > dueBy) continue
        if (best === noRow || this.#isBefore(row, best)) best = row
      }
      if (best !== noRow) return best
    }
    return noRow
  }

  oldestReadyAt(): EpochMs {
    let oldest = never
    for (const { head, side } of this.#lanes) {
      const row = this.#table.links.first(head)
      if (row !== head) oldest = Math.min(oldest, this.#table.number(row, numberColumn.readyAt))
      if (side !== undefined) oldest = Math.min(oldest, side.firstAt)
    }
    return oldest
  }

  notDueAt(now: EpochMs): readonly number[] {
    return this.#lanes
      .flatMap((lane) => [...this.#inList(lane), ...this.#inSide(lane)])
      .filter((row) => this.#dueAt(row) > now)
  }

  #dueAt(row: number): EpochMs {
    return this.#table.number(row, numberColumn.dueAt)
  }

  #isBefore(row: number, other: number): boolean {
    const readyAt = this.#table.number(row, numberColumn.readyAt)
    const otherReadyAt = this.#table.number(other, numberColumn.readyAt)
    if (readyAt !== otherReadyAt) return readyAt < otherReadyAt
    return this.#table.number(row, numberColumn.seq) < this.#table.number(other, numberColumn.seq)
  }

  #isSideFirst(side: RowHeap, row: number): boolean {
    const readyAt = this.#table.number(row, numberColumn.readyAt)
    if (side.firstAt !== readyAt) return side.firstAt < readyAt
    return side.firstTie < this.#table.number(row, numberColumn.seq)
  }

  #inList(lane: Lane): number[] {
    const rows: number[] = []
    const { links } = this.#table
    for (let row = links.first(lane.head); row !== lane.head; row = links.next[row]!) rows.push(row)
    return rows
  }

  #inSide({ side }: Lane): number[] {
    const rows: number[] = []
    for (let at = 0; side !== undefined && at < side.size; at += 1) rows.push(side.rowAt(at))
    return rows
  }

  #laneOf(priority: number): Lane {
    const lanes = this.#lanes
    let low = 0
    let high = lanes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (lanes[middle]!.priority > priority) low = middle + 1
      else high = middle
    }
    const found = lanes[low]
    if (found !== undefined && found.priority === priority) return found
    const lane = newLane(this.#table, priority)
    lanes.splice(low, 0, lane)
    for (let index = low; index < lanes.length; index += 1) lanes[index]!.index = index
    if (low <= this.#first) this.#first += 1
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
