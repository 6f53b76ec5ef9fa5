import { type EpochMs, never } from '@sluice/core/driver'
import type { ReadyRows } from './ready-rows.ts'
import { list as listImported, noRow as noRowImported, type RowLinks } from './row-links.ts'
import type { RowStates } from './row-states.ts'
import type { RowTable } from './row-table.ts'
import { SortedRows } from './sorted-rows.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported
const list = listImported

/** The ready rows of one priority, in the order of (`readyAt`, `seq`). */
interface Level {
  readonly priority: number
  readonly rows: SortedRows
  /** The index of the level among all of them. */
  index: number
}

/** The ready rows in strict order: by priority, then `readyAt`, then `seq`. */
export class ReadyByPriority implements ReadyRows {
  size = 0
  readonly needsTouch = false
  private readonly table: RowTable
  private readonly links: RowLinks
  private readonly states: RowStates
  /** For priority 0, which most queues use alone. */
  private readonly plain: Level
  /** All of them, the highest priority first. */
  private readonly levels: Level[]
  /** No level before this index has rows. */
  private first = 0

  constructor(table: RowTable, states: RowStates) {
    this.table = table
    this.links = table.links
    this.states = states
    this.plain = this.newLevel(0)
    this.levels = [this.plain]
  }

  add(row: number, priority: number, readyAt: EpochMs, seq: number): void {
    this.size += 1
    const level = priority === 0 ? this.plain : this.levelOf(priority)
    level.rows.add(row, readyAt, seq)
    if (level.index < this.first) this.first = level.index
  }

  remove(row: number): void {
    this.size -= 1
    if (this.links.listOf(row) === list.ready) this.links.unlink(row)
    else this.levels.find(({ rows }) => rows.hasAside(row))!.rows.removeAside(row)
  }

  touch(): void {}

  peek(): number {
    if (this.size === 0) return noRow
    for (;;) {
      const { first } = this.levels[this.first]!.rows
      if (first !== noRow) return first
      this.first += 1
    }
  }

  pick(dueBy: EpochMs): number {
    const { states } = this
    const isBefore = (row: number, other: number): boolean => {
      const [readyAt, otherAt] = [states.readyAtOf(row), states.readyAtOf(other)]
      return readyAt < otherAt || (readyAt === otherAt && states.seqOf(row) < states.seqOf(other))
    }
    for (const { rows } of this.levels) {
      const due = rows.someRows(this.size).filter((row) => states.dueAtOf(row) <= dueBy)
      if (due.length > 0) return due.reduce((a, b) => (isBefore(a, b) ? a : b))
    }
    return noRow
  }

  oldestReadyAt(): EpochMs {
    return this.levels.reduce((oldest, { rows }) => Math.min(oldest, rows.firstAt), never)
  }

  private newLevel(priority: number): Level {
    return { priority, rows: new SortedRows(this.table, this.states, list.ready), index: 0 }
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
    const level = this.newLevel(priority)
    levels.splice(low, 0, level)
    for (let index = low; index < levels.length; index += 1) levels[index]!.index = index
    return level
  }
}
