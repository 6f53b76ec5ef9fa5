import { type EpochMs, never } from '@sluice/core/driver'
import type { ReadyRows } from './ready-rows.ts'
import type { RowCursor } from './row-cursor.ts'
import { RowHeap } from './row-heap.ts'
import { list as listImported, noRow as noRowImported, type RowLinks } from './row-links.ts'
import type { RowTable } from './row-table.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported
const list = listImported

/** The ready rows of one priority. */
interface Level {
  readonly priority: number
  /** The head of a list in the order of (`readyAt`, `seq`). */
  readonly head: number
  /** The position of the row that was appended last, whether it is still on the list or not. */
  lastReadyAt: EpochMs
  lastSeq: number
  /** Rows that came out of order; undefined until there is one. */
  side: RowHeap | undefined
  /** The index of the level among all of them. */
  index: number
}

/**
 * The ready rows in strict order: by priority, then `readyAt`, then `seq`.
 *
 * Nearly every row that becomes ready belongs at the end of its level, for which a list suffices. A
 * row that was released to its old position goes to a heap next to the list; the next row to be
 * claimed is the first of both.
 */
export class ReadyByPriority implements ReadyRows {
  size = 0
  readonly needsTouch = false
  private readonly table: RowTable
  private readonly links: RowLinks
  private readonly cursor: RowCursor
  /** For priority 0, which most queues use alone. */
  private readonly plain: Level
  /** All of them, the highest priority first. */
  private readonly levels: Level[]
  /** No level before this index has rows. */
  private first = 0

  constructor(table: RowTable, cursor: RowCursor) {
    this.table = table
    this.links = table.links
    this.cursor = cursor
    this.plain = newLevel(table, 0)
    this.levels = [this.plain]
  }

  add(row: number, priority: number, readyAt: EpochMs, seq: number): void {
    this.size += 1
    const { links } = this
    const level = priority === 0 ? this.plain : this.levelOf(priority)
    const isLast =
      readyAt > level.lastReadyAt || (readyAt === level.lastReadyAt && seq > level.lastSeq)
    if (isLast || links.next(level.head) === level.head) {
      links.append(level.head, row, list.ready)
      level.lastReadyAt = readyAt
      level.lastSeq = seq
    } else this.addToSide(level, row, readyAt, seq)
    if (level.index < this.first) this.first = level.index
  }

  private addToSide(level: Level, row: number, readyAt: EpochMs, seq: number): void {
    level.side ??= new RowHeap(this.links)
    level.side.add(row, readyAt, seq)
    this.links.setList(row, list.readySide)
  }

  remove(row: number): void {
    this.size -= 1
    if (this.links.listOf(row) === list.ready) this.links.unlink(row)
    else this.removeFromSide(row)
  }

  touch(): void {}

  peek(): number {
    if (this.size === 0) return noRow
    for (;;) {
      const level = this.levels[this.first]!
      const row = this.links.next(level.head)
      if (level.side !== undefined && level.side.size > 0) {
        const { first } = level.side
        return row === level.head || this.isBefore(first, row) ? first : row
      }
      if (row !== level.head) return row
      this.first += 1
    }
  }

  pick(dueBy: EpochMs): number {
    for (const level of this.levels) {
      const due = this.rowsOf(level).filter((row) => this.dueAt(row) <= dueBy)
      if (due.length > 0) return due.reduce((a, b) => (this.isBefore(a, b) ? a : b))
    }
    return noRow
  }

  oldestReadyAt(): EpochMs {
    let oldest = never
    for (const { head, side } of this.levels) {
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

  private removeFromSide(row: number): void {
    this.levels.find(({ side }) => side?.has(row))!.side!.remove(row)
    this.links.setList(row, list.none)
  }

  private rowsOf({ head, side }: Level): number[] {
    const rows: number[] = []
    for (let row = this.links.next(head); row !== head; row = this.links.next(row)) rows.push(row)
    for (let at = 0; side !== undefined && at < side.size; at += 1) rows.push(side.rowAt(at))
    return rows
  }

  private levelOf(priority: number): Level {
    const { levels } = this
    let low = 0
    let high = levels.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (levels[middle]!.priority > priority) low = middle + 1
      else high = middle
    }
    const found = levels[low]
    if (found !== undefined && found.priority === priority) return found
    const level = newLevel(this.table, priority)
    levels.splice(low, 0, level)
    for (let index = low; index < levels.length; index += 1) levels[index]!.index = index
    if (low <= this.first) this.first += 1
    return level
  }
}

function newLevel(table: RowTable, priority: number): Level {
  return {
    priority,
    head: table.allocateHead(),
    lastReadyAt: -Infinity,
    lastSeq: 0,
    side: undefined,
    index: 0,
  }
}
