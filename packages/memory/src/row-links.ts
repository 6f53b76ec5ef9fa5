/** The row number that stands for none. */
export const noRow = 0

/**
 * Two numbers per row by which rows are strung together: doubly linked lists that run in a circle
 * through a *head*, a row that is part of no key. A circle needs no case for its ends, and a row can
 * leave it without knowing which one it is in.
 *
 * A row that is in a heap instead keeps its position there in `next`: no row is in two places.
 */
export class RowLinks {
  next: Int32Array = new Int32Array(0)
  previous: Int32Array = new Int32Array(0)

  /** Makes room for rows below `capacity`. */
  reserve(capacity: number): void {
    this.next = widened(this.next, capacity)
    this.previous = widened(this.previous, capacity)
  }

  /** Makes `head` the head of an empty circle. */
  begin(head: number): void {
    this.next[head] = head
    this.previous[head] = head
  }

  isEmpty(head: number): boolean {
    return this.next[head] === head
  }

  /** The row after the head; the head itself if the circle is empty. */
  first(head: number): number {
    return this.next[head]!
  }

  append(head: number, row: number): void {
    const last = this.previous[head]!
    this.next[row] = head
    this.previous[row] = last
    this.next[last] = row
    this.previous[head] = row
  }

  /** Takes a row out of whatever circle it is in. */
  unlink(row: number): void {
    const next = this.next[row]!
    const previous = this.previous[row]!
    this.next[previous] = next
    this.previous[next] = previous
  }
}

function widened(old: Int32Array, capacity: number): Int32Array {
  const wide = new Int32Array(capacity)
  wide.set(old)
  return wide
}
