// ArrayBuffer.prototype.transfer is in every runtime this runs on, but not in the library of es2023.
/// <reference lib="es2024.arraybuffer" />
import { noRow } from './row-links.ts'
import { put } from './row-table.ts'

/** How many numbers a slot has. */
export const holdWidth = 8

/** The slot of a key that is not held. */
export const noHold = 0

const capacityInitial = 16

/**
 * Room for what is stored of a key only while it is held: the lease, and what the claim took. Few
 * keys are held at a time; their slots, reused last in first out, stay in the processor's cache.
 */
export class HoldTable {
  numbers: Float64Array = new Float64Array(capacityInitial * holdWidth)
  readonly holders: string[] = ['']
  /** The trace contexts of claimed runs that have any; see `RowCursor`. */
  readonly traces: (string | undefined)[] = []
  /** The row that each slot belongs to; `noRow` if it is free. */
  private rows: Int32Array = new Int32Array(capacityInitial)
  private free: Int32Array = new Int32Array(capacityInitial)
  private freeCount = 0
  private used = 1

  /** A slot for the hold of a row. */
  allocate(row: number): number {
    let slot: number
    if (this.freeCount > 0) {
      this.freeCount -= 1
      slot = this.free[this.freeCount]!
    } else {
      slot = this.used
      this.used += 1
      if (slot === this.rows.length) this.grow()
    }
    this.rows[slot] = row
    return slot
  }

  release(slot: number): void {
    this.holders[slot] = ''
    if (slot < this.traces.length) this.traces[slot] = undefined
    this.rows[slot] = noRow
    this.free[this.freeCount] = slot
    this.freeCount += 1
  }

  setTrace(slot: number, trace: string): void {
    put(this.traces, slot, trace)
  }

  /** At most `limit` of the rows that have a slot, in no particular order. */
  someRows(limit: number): number[] {
    const rows: number[] = []
    for (let slot = 1; slot < this.used && rows.length < limit; slot += 1) {
      if (this.rows[slot] !== noRow) rows.push(this.rows[slot]!)
    }
    return rows
  }

  private grow(): void {
    this.numbers = doubled(this.numbers)
    this.rows = doubled(this.rows)
    this.free = doubled(this.free)
  }
}

/** The same numbers with room for as many again. The old array is empty then: decision 0103. */
export function doubled<Numbers extends Int32Array | Float64Array>(old: Numbers): Numbers {
  const { buffer } = old as { buffer: ArrayBuffer }
  return new (old.constructor as new (buffer: ArrayBuffer) => Numbers)(
    buffer.transfer(old.byteLength * 2),
  )
}
