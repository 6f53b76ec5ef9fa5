import type { EpochMs } from '@sluice/core/driver'
import { doubled } from './doubled.ts'
import { noRow, type RowLinks } from './row-links.ts'

const arity = 4
const capacityInitial = 16

/**
 * Rows in the order of an instant, and of a number that breaks ties: delayed rows by when they are
 * due, held rows by when their leases end. The first row is known; any row can be moved or removed.
 *
 * A heap with four children per node, which is half as deep as one with two, in typed arrays. The
 * position of a row is stored in its link: a row in a heap is on no list.
 */
export class RowHeap {
  size = 0
  private readonly links: RowLinks
  private instants: Float64Array = new Float64Array(capacityInitial).fill(Infinity)
  private ties: Float64Array = new Float64Array(capacityInitial)
  private rows: Int32Array = new Int32Array(capacityInitial)

  constructor(links: RowLinks) {
    this.links = links
  }

  /** The earliest instant; `Infinity` if there is none. */
  get firstAt(): EpochMs {
    return this.instants[0]!
  }

  /** The number that breaks ties of the earliest row, if there is one. */
  get firstTie(): number {
    return this.ties[0]!
  }

  /** The earliest row; `noRow` if there is none. */
  get first(): number {
    return this.size === 0 ? noRow : this.rows[0]!
  }

  has(row: number): boolean {
    const at = this.links.next(row)
    return at < this.size && this.rows[at] === row
  }

  /** The row at a position below `size`, in no particular order. */
  rowAt(position: number): number {
    return this.rows[position]!
  }

  add(row: number, instant: EpochMs, tie: number): void {
    const at = this.size
    this.size += 1
    // One is kept free at the end, so that an empty heap has an infinite first instant.
    if (this.size === this.rows.length) this.grow()
    this.rise(at, row, instant, tie)
  }

  /** Gives a row that is in the heap another instant. */
  move(row: number, instant: EpochMs, tie: number): void {
    this.reposition(this.links.next(row), row, instant, tie)
  }

  remove(row: number): void {
    const at = this.links.next(row)
    this.size -= 1
    const end = this.size
    const last = this.rows[end]!
    const instant = this.instants[end]!
    const tie = this.ties[end]!
    this.instants[end] = Infinity
    if (at !== end) this.reposition(at, last, instant, tie)
  }

  /** At most `limit` of the rows whose instant is not after `now`, in no particular order. */
  upTo(now: EpochMs, limit: number): number[] {
    const found: number[] = []
    // Below a node that is after `now`, every node is.
    const nodes = [0]
    for (let at = nodes.pop(); at !== undefined && found.length < limit; at = nodes.pop()) {
      if (at >= this.size || this.instants[at]! > now) continue
      found.push(this.rows[at]!)
      for (let child = at * arity + arity; child > at * arity; child -= 1) nodes.push(child)
    }
    return found
  }

  private reposition(at: number, row: number, instant: EpochMs, tie: number): void {
    const parent = (at - 1) >> 2
    if (at > 0 && this.isAfter(parent, instant, tie)) this.rise(at, row, instant, tie)
    else this.sink(at, row, instant, tie)
  }

  /** Whether the row at position `at` belongs after (`instant`, `tie`). */
  private isAfter(at: number, instant: EpochMs, tie: number): boolean {
    const other = this.instants[at]!
    return other > instant || (other === instant && this.ties[at]! > tie)
  }

  private rise(from: number, row: number, instant: EpochMs, tie: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 2
      if (!this.isAfter(parent, instant, tie)) break
      this.put(at, this.rows[parent]!, this.instants[parent]!, this.ties[parent]!)
      at = parent
    }
    this.put(at, row, instant, tie)
  }

  private sink(from: number, row: number, instant: EpochMs, tie: number): void {
    const { size } = this
    let at = from
    for (;;) {
      const firstChild = at * arity + 1
      if (firstChild >= size) break
      const end = Math.min(firstChild + arity, size)
      let least = firstChild
      for (let child = firstChild + 1; child < end; child += 1) {
        if (this.isAfter(least, this.instants[child]!, this.ties[child]!)) least = child
      }
      if (this.isAfter(least, instant, tie)) break
      this.put(at, this.rows[least]!, this.instants[least]!, this.ties[least]!)
      at = least
    }
    this.put(at, row, instant, tie)
  }

  private put(at: number, row: number, instant: EpochMs, tie: number): void {
    this.rows[at] = row
    this.instants[at] = instant
    this.ties[at] = tie
    this.links.setNext(row, at)
  }

  private grow(): void {
    const { length } = this.rows
    this.instants = doubled(this.instants).fill(Infinity, length)
    this.ties = doubled(this.ties)
    this.rows = doubled(this.rows)
  }
}
