import { type EpochMs, never } from '@sluice/core'
import type { ReadyRows } from './ready-rows.ts'
import { place, type RowCursor } from './row-cursor.ts'
import { noRow } from './row-links.ts'
import { numberColumn, type RowTable } from './row-table.ts'

/**
 * An order of the caller's for keys that are ready: the custom `Queue` of client-go.
 *
 * It is told of each key once when the key becomes ready, and again by `touch` when a key that still
 * waits is added again. It decides alone which key is next; the priorities of adds mean nothing to
 * it. Its functions must not call the queue.
 */
export interface ReadyOrder {
  /** A key has become ready. It is not among those pushed and not popped yet. */
  push(key: string): void
  /** A key that was pushed, and not popped yet, was added again. */
  touch(key: string): void
  /** Gives up the next key. Only called while `len()` is above zero. */
  pop(): string
  /** How many keys were pushed and not popped yet. */
  len(): number
}

/** Finds the row of a key, as the index does. */
export interface RowFinder {
  find(key: string): number
}

/** The ready rows in an order of the caller's. */
export class OrderedRows implements ReadyRows {
  readonly #table: RowTable
  readonly #index: RowFinder
  readonly #order: ReadyOrder
  readonly #rows: Set<number> = new Set()
  /** Keys that are no longer ready. The order has no way to be told; they are skipped when popped. */
  readonly #withdrawn: Set<string> = new Set()
  /** A row that was popped, and not taken so far. */
  #popped: number = noRow

  constructor(table: RowTable, index: RowFinder, order: ReadyOrder) {
    this.#table = table
    this.#index = index
    this.#order = order
  }

  get size(): number {
    return this.#rows.size
  }

  add(cursor: RowCursor): void {
    cursor.place = place.line
    this.#rows.add(cursor.row)
    const { key } = cursor
    if (this.#withdrawn.delete(key)) this.#order.touch(key)
    else this.#order.push(key)
  }

  remove(cursor: RowCursor): void {
    this.#rows.delete(cursor.row)
    if (cursor.row === this.#popped) this.#popped = noRow
    else this.#withdrawn.add(cursor.key)
  }

  touch(cursor: RowCursor): void {
    if (cursor.row !== this.#popped) this.#order.touch(cursor.key)
  }

  peek(): number {
    while (this.#popped === noRow && this.#order.len() > 0) {
      const key = this.#order.pop()
      if (this.#withdrawn.delete(key)) continue
      const row = this.#index.find(key)
      // An order that makes up keys, or gives one twice, must not make two workers share it.
      if (this.#rows.has(row)) this.#popped = row
    }
    return this.#popped
  }

  pick(dueBy: EpochMs): number {
    const passedOver: number[] = []
    let row = this.peek()
    while (row !== noRow && this.#table.number(row, numberColumn.dueAt) > dueBy) {
      passedOver.push(row)
      this.#popped = noRow
      row = this.peek()
    }
    for (const other of passedOver) this.#order.push(this.#table.keyAt(other))
    return row
  }

  oldestReadyAt(): EpochMs {
    let oldest = never
    for (const row of this.#rows) {
      oldest = Math.min(oldest, this.#table.number(row, numberColumn.readyAt))
    }
    return oldest
  }

  notDueAt(now: EpochMs): readonly number[] {
    const { dueAt } = numberColumn
    return [...this.#rows].filter((row) => this.#table.number(row, dueAt) > now)
  }
}
