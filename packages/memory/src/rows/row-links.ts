// ArrayBuffer.prototype.transfer is in every runtime this runs on, but not in the library of es2023.
/// <reference lib="es2024.arraybuffer" />

/** The row number that stands for none. */
export const noRow = 0

/**
 * The list that a row is on. `none`: the row is free, or the head of a list, or held with an object.
 * A row of {@link SortedRows} that is in the heap there has the number after that of the list.
 */
export const list = {
  none: 0,
  ready: 1,
  readySide: 2,
  delayed: 3,
  delayedSide: 4,
  idle: 5,
  parked: 6,
  held: 7,
} as const

/** The cells of a row: the next row, the previous one, its list and marks, its failures. */
// Rows are multiplied by shifting, and columns added by `|`: no check for overflow is needed then.
const widthBits = 2

/** The unit of the second cell of a token. */
const tokenUnit = 2 ** 32

// The third cell: the list, whether adding the key changes nothing, and the marks of `RowStates`.
const listMask = 7
const noOpBit = 8
const listBits = listMask | noOpBit
const priorityShift = 16

/**
 * The list that each row is on, and the lists themselves: doubly linked, in a circle through a
 * *head*, which is a row without a key. A circle needs no case for its ends, and a row can leave it
 * without knowing which one it is on. A row in a heap stores its position there in place of the
 * next row, and a held row its token in place of both: no row is on two lists.
 *
 * All of it is in one array, so that the engine checks one array per list operation and not four.
 */
export class RowLinks {
  /** How many rows there is room for. */
  capacity = 0
  private cells: Int32Array = new Int32Array(0)

  /** Makes room for rows below `capacity`. */
  reserve(capacity: number): void {
    const { buffer } = this.cells as { buffer: ArrayBuffer }
    this.cells = new Int32Array(buffer.transfer((capacity << widthBits) * 4))
    this.capacity = capacity
  }

  next(row: number): number {
    return this.cells[row << widthBits]!
  }

  setNext(row: number, next: number): void {
    this.cells[row << widthBits] = next
  }

  /** Makes a row one of the free rows, which are linked. */
  release(row: number, next: number): void {
    this.cells[row << widthBits] = next
    this.cells[(row << widthBits) | 2] = list.none
  }

  /** The token of a row that was made held here. */
  token(row: number): number {
    const at = row << widthBits
    return this.cells[at | 1]! * tokenUnit + (this.cells[at]! >>> 0)
  }

  /** Whether a row was made held here under this token. */
  isHeld(row: number, token: number): boolean {
    const at = row << widthBits
    return (
      (this.cells[at | 2]! & listMask) === list.held &&
      this.cells[at] === (token | 0) &&
      this.cells[at | 1] === ((token / tokenUnit) | 0)
    )
  }

  /** Marks a row, which is on no list, as held. */
  hold(row: number, token: number): void {
    const at = row << widthBits
    this.cells[at] = token | 0
    this.cells[at | 1] = (token / tokenUnit) | 0
    this.cells[at | 2]! |= list.held
  }

  failures(row: number): number {
    return this.cells[(row << widthBits) | 3]!
  }

  /** Sets the small members of a new row, which is on no list. */
  start(row: number, marks: number, failures: number): void {
    this.cells[(row << widthBits) | 2] = marks
    this.cells[(row << widthBits) | 3] = failures
  }

  setFailures(row: number, failures: number): void {
    this.cells[(row << widthBits) | 3] = failures
  }

  listOf(row: number): number {
    return this.cells[(row << widthBits) | 2]! & listMask
  }

  setList(row: number, where: number): void {
    const at = (row << widthBits) | 2
    this.cells[at] = (this.cells[at]! & ~listBits) | where
  }

  /** The small members of a row, as `RowStates` packs them: the lowest four bits are not theirs. */
  marks(row: number): number {
    return this.cells[(row << widthBits) | 2]!
  }

  setMarks(row: number, marks: number): void {
    const at = (row << widthBits) | 2
    this.cells[at] = (this.cells[at]! & listBits) | marks
  }

  /**
   * Records that adding the row's key once more changes nothing, up to its priority. Putting the
   * row on a list erases the record, and every change of the row that matters here does that.
   */
  markNoOp(row: number): void {
    this.cells[(row << widthBits) | 2]! |= noOpBit
  }

  isNoOp(row: number, priority: number): boolean {
    const cell = this.cells[(row << widthBits) | 2]!
    return (cell & listBits) === (list.ready | noOpBit) && priority <= cell >> priorityShift
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
    this.setList(row, where)
  }

  /** Takes a row out of its circle. */
  unlink(row: number): void {
    const { cells } = this
    const next = cells[row << widthBits]!
    const previous = cells[(row << widthBits) | 1]!
    cells[previous << widthBits] = next
    cells[(next << widthBits) | 1] = previous
    this.setList(row, list.none)
  }
}
