/** The row number that stands for none. */
export const noRow = 0

/** Where a row is kept. `nowhere`: it is held, or in nobody's use, or the head of a list. */
export const place = { nowhere: 0, line: 1, side: 2, delayed: 3, idle: 4, parked: 5 } as const

/** How many cells a row has: the next row, the previous one, its place, and the hash of its key. */
// Rows are multiplied by shifting, and columns added by `|`: no check for overflow is needed then.
const widthBits = 2

// What else is in the cell of the place.
const placeMask = 7
const settledBit = 8
const priorityShift = 16

/**
 * Where each row is kept, and what strings rows together: doubly linked lists that run in a circle
 * through a *head*, a row that is part of no key. A circle needs no case for its ends, and a row can
 * leave it without knowing which one it is in. A row that is in a heap instead has its position
 * there for a next row: no row is in two places.
 *
 * All of it is in one array, so that the engine checks one array per list operation and not four.
 */
export class RowLinks {
  /** How many rows there is room for. */
  capacity = 0
  private cells: Int32Array = new Int32Array(0)

  /** Makes room for rows below `capacity`. */
  reserve(capacity: number): void {
    const { cells } = this
    this.cells = new Int32Array(capacity << widthBits)
    this.cells.set(cells)
    this.capacity = capacity
  }

  next(row: number): number {
    return this.cells[row << widthBits]!
  }

  setNext(row: number, next: number): void {
    this.cells[row << widthBits] = next
  }

  placeOf(row: number): number {
    return this.cells[(row << widthBits) | 2]! & placeMask
  }

  setPlace(row: number, where: number): void {
    this.cells[(row << widthBits) | 2] = where
  }

  /**
   * Notes that adding the row's key once more, at that priority, changes nothing. It holds until the
   * row is put anywhere, which ends whatever made it so.
   */
  settle(row: number, priority: number): void {
    this.cells[(row << widthBits) | 2] = place.line | settledBit | (priority << priorityShift)
  }

  isSettled(row: number, priority: number): boolean {
    return (
      this.cells[(row << widthBits) | 2] === (place.line | settledBit | (priority << priorityShift))
    )
  }

  hashOf(row: number): number {
    return this.cells[(row << widthBits) | 3]!
  }

  setHash(row: number, hash: number): void {
    this.cells[(row << widthBits) | 3] = hash
  }

  /** Makes `head` the head of an empty circle. */
  begin(head: number): void {
    this.cells[head << widthBits] = head
    this.cells[(head << widthBits) | 1] = head
  }

  /** Puts a row at the end of a circle. */
  append(head: number, row: number, where: number): void {
    const { cells } = this
    const last = cells[(head << widthBits) | 1]!
    cells[(head << widthBits) | 1] = row
    cells[last << widthBits] = row
    cells[row << widthBits] = head
    cells[(row << widthBits) | 1] = last
    cells[(row << widthBits) | 2] = where
  }

  /** Takes a row out of whatever circle it is in. */
  unlink(row: number): void {
    const { cells } = this
    const next = cells[row << widthBits]!
    const previous = cells[(row << widthBits) | 1]!
    cells[previous << widthBits] = next
    cells[(next << widthBits) | 1] = previous
    cells[(row << widthBits) | 2] = place.nowhere
  }
}
