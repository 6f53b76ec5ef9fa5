import { type EpochMs, never } from '@sluice/core/driver'
import { RowHeap } from './row-heap.ts'
import { list as listImported, noRow as noRowImported, type RowLinks } from './row-links.ts'
import type { RowStates } from './row-states.ts'
import type { RowTable } from './row-table.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported
const list = listImported

/**
 * Rows in the order of an instant, and of a number that breaks ties: delayed rows by when they are
 * due, the ready rows of one priority by when they became ready.
 *
 * Nearly every row belongs at the end, for which a list suffices. A row that does not goes to a heap
 * next to the list; the first row is the first of both. Rows on the list store their position only in
 * the row itself.
 */
export class SortedRows {
  private readonly links: RowLinks
  private readonly states: RowStates
  /** The mark of the rows of the list. */
  private readonly where: number
  private readonly head: number
  /** The position of the row that was appended last, whether it is still on the list or not. */
  private lastAt: EpochMs = -Infinity
  private lastSeq = 0.5
  /** Rows that came out of order; undefined until there is one. */
  private side: RowHeap | undefined = undefined

  constructor(table: RowTable, states: RowStates, where: number) {
    this.links = table.links
    this.states = states
    this.where = where
    this.head = table.allocateHead()
  }

  /** The first row; `noRow` if there is none. */
  get first(): number {
    const { head, side } = this
    const row = this.links.next(head)
    if (side !== undefined && side.size > 0) return row === head ? side.first : this.firstOf(row)
    return row === head ? noRow : row
  }

  /** The instant of the first row; `Infinity` if there is none. */
  get firstAt(): EpochMs {
    const { first } = this
    return first === noRow ? never : this.instantOf(first)
  }

  add(row: number, instant: EpochMs, seq: number): void {
    const { head, links } = this
    const isLast = instant > this.lastAt || (instant === this.lastAt && seq > this.lastSeq)
    if (isLast || links.next(head) === head) {
      links.append(head, row, this.where)
      this.lastAt = instant
      this.lastSeq = seq
    } else this.addAside(row, instant, seq)
  }

  /** Whether a row is in the heap. */
  hasAside(row: number): boolean {
    return this.side?.has(row) === true
  }

  remove(row: number): void {
    if (this.links.listOf(row) === this.where) this.links.unlink(row)
    else this.removeAside(row)
  }

  /** Removes a row that is in the heap. */
  removeAside(row: number): void {
    this.side!.remove(row)
    this.links.setList(row, list.none)
  }

  /** At most `limit` of the rows, in no particular order. */
  someRows(limit: number): number[] {
    const { head, links, side } = this
    const rows: number[] = []
    for (let at = 0; side !== undefined && at < side.size && rows.length < limit; at += 1) {
      rows.push(side.rowAt(at))
    }
    for (let row = links.next(head); row !== head && rows.length < limit; row = links.next(row)) {
      rows.push(row)
    }
    return rows
  }

  private addAside(row: number, instant: EpochMs, seq: number): void {
    this.side ??= new RowHeap(this.links)
    this.side.add(row, instant, seq)
    this.links.setList(row, this.where + 1)
  }

  /** The first of the heap, or `row`, the first of the list. */
  private firstOf(row: number): number {
    const { first, firstAt, firstTie } = this.side!
    const instant = this.instantOf(row)
    if (firstAt !== instant) return firstAt < instant ? first : row
    return firstTie < this.states.seqOf(row) ? first : row
  }

  private instantOf(row: number): EpochMs {
    return this.where === list.delayed ? this.states.dueAtOf(row) : this.states.readyAtOf(row)
  }
}
