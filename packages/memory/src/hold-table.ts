import { never, noToken } from '@sluice/core'
import { noRow } from './row-links.ts'

/** Columns of {@link HoldTable.numbers}. */
export const holdColumn = {
  token: 0,
  leaseUntil: 1,
  claimedDueAt: 2,
  claimedReadyAt: 3,
  claimedSeq: 4,
  claimedAskedAt: 5,
  claimedLaterAt: 6,
  claimedPriority: 7,
} as const

/** How many columns there are. */
export const holdWidth = 8

/** The slot of every key that is not held: it reads as "nobody". */
export const noHold = 0

const capacityInitial = 16

/**
 * What is stored of a key only while it is held: the lease, and what the claim took. Few keys are
 * held at a time, so that the slots, reused last in first out, stay in the processor's cache.
 */
export class HoldTable {
  numbers: Float64Array = new Float64Array(capacityInitial * holdWidth)
  readonly holders: string[] = ['']
  /** The row that each slot belongs to; `noRow` if it is free. */
  rows: Int32Array = new Int32Array(capacityInitial)
  /** How many keys are held. */
  count = 0
  #free: Int32Array = new Int32Array(capacityInitial)
  #freeCount = 0
  #used = 1

  constructor() {
    this.numbers[noHold * holdWidth + holdColumn.token] = noToken
    this.numbers[noHold * holdWidth + holdColumn.leaseUntil] = never
    for (let column = 2; column < holdWidth; column += 1) this.numbers[column] = never
    this.numbers[holdColumn.claimedSeq] = 0
    this.numbers[holdColumn.claimedPriority] = 0
  }

  /** A slot for a key that is being claimed. */
  take(row: number, holder: string): number {
    this.count += 1
    let slot: number
    if (this.#freeCount > 0) {
      this.#freeCount -= 1
      slot = this.#free[this.#freeCount]!
    } else {
      slot = this.#used
      this.#used += 1
      if (slot * holdWidth === this.numbers.length) this.#grow()
    }
    this.holders[slot] = holder
    this.rows[slot] = row
    return slot
  }

  /** At most `limit` of the rows that are held, in no particular order. */
  someRows(limit: number): number[] {
    const rows: number[] = []
    for (let slot = 1; slot < this.#used && rows.length < limit; slot += 1) {
      if (this.rows[slot] !== noRow) rows.push(this.rows[slot]!)
    }
    return rows
  }

  giveBack(slot: number): void {
    this.count -= 1
    this.#free[this.#freeCount] = slot
    this.#freeCount += 1
    this.holders[slot] = ''
    this.rows[slot] = noRow
  }

  #grow(): void {
    const numbers = new Float64Array(this.numbers.length * 2)
    numbers.set(this.numbers)
    this.numbers = numbers
    this.rows = doubled(this.rows)
    this.#free = doubled(this.#free)
  }
}

function doubled(old: Int32Array): Int32Array {
  const wide = new Int32Array(old.length * 2)
  wide.set(old)
  return wide
}
