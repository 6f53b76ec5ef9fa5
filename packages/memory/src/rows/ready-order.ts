import { type EpochMs, never } from '@sluice/core/driver'
import type { ReadyRows } from './ready-rows.ts'
import { list, noRow } from './row-links.ts'
import type { RowStates } from './row-states.ts'
import type { RowTable } from './row-table.ts'
import type { StringIndex } from './string-index.ts'

/**
 * An order of the caller's for keys that are ready: the custom `Queue` of client-go.
 *
 * `push` is called once for each key when it becomes ready, and `touch` when a key that is still
 * ready is added again. The order alone decides which key is next; priorities have no effect. Its
 * functions must not call the queue.
 */
export interface ReadyOrder {
  /** A key has become ready. It is not among those pushed and not popped yet. */
  push(key: string): void
  /** A key that was pushed, and not popped yet, was added again. */
  touch(key: string): void
  /** Removes the next key and returns it. Only called while `len()` is above zero. */
  pop(): string
  /** How many keys were pushed and not popped yet. */
  len(): number
}

type FindsRows = Pick<StringIndex, 'find'>

/** The ready rows in an order of the caller's. */
export class OrderedRows implements ReadyRows {
  readonly needsTouch = true
  readonly #table: RowTable
  readonly #index: FindsRows
  readonly #states: RowStates
  readonly #order: ReadyOrder
  readonly #rows: Set<number> = new Set()
  /** Keys that are no longer ready. The order cannot remove them; they are skipped when popped. */
  readonly #withdrawn: Set<string> = new Set()
  /** A row that was popped and is not claimed yet. */
  #popped: number = noRow

  constructor(table: RowTable, index: FindsRows, states: RowStates, order: ReadyOrder) {
    this.#table = table
    this.#index = index
    this.#states = states
    this.#order = order
  }

  get size(): number {
    return this.#rows.size
  }

  add(row: number): void {
    const key = this.#table.keyAt(row)
    this.#table.links.setList(row, list.ready)
    this.#rows.add(row)
    if (this.#withdrawn.delete(key)) this.#order.touch(key)
    else this.#order.push(key)
  }

  remove(row: number): void {
    this.#table.links.setList(row, list.none)
    this.#rows.delete(row)
    if (row === this.#popped) this.#popped = noRow
    else this.#withdrawn.add(this.#table.keyAt(row))
  }

  touch(row: number): void {
    if (row !== this.#popped) this.#order.touch(this.#table.keyAt(row))
  }

  peek(): number {
    // A key whose push threw, or that the order has lost, comes when the order has no other.
    const [lost = noRow] = this.#rows
    if (this.#pop() === noRow) this.#popped = lost
    return this.#popped
  }

  #pop(): number {
    // An order that returns keys without removing them must not be asked for ever.
    let left = this.#order.len()
    while (this.#popped === noRow && left > 0) {
      const key = this.#order.pop()
      left = Math.min(left - 1, this.#order.len())
      const row = this.#withdrawn.delete(key) ? noRow : this.#index.find(key)
      // An order that invents keys, or returns one twice, must not make two workers share a key.
      if (this.#rows.has(row)) this.#popped = row
    }
    return this.#popped
  }

  pick(dueBy: EpochMs): number {
    const passedOver: string[] = []
    let row = this.#pop()
    for (; row !== noRow && this.#states.dueAtOf(row) > dueBy; row = this.#pop()) {
      passedOver.push(this.#table.keyAt(row))
      this.#popped = noRow
    }
    for (const key of passedOver) this.#order.push(key)
    return row
  }

  oldestReadyAt(): EpochMs {
    return [...this.#rows].reduce((at, row) => Math.min(at, this.#states.readyAtOf(row)), never)
  }
}
