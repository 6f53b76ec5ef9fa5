import { type DueReason, type KeyState, never } from '@sluice/core'
import { type HoldTable, holdColumn, holdWidth, noHold } from './hold-table.ts'
import { noRow } from './row-links.ts'
import {
  integerColumn,
  integerWidth,
  numberColumn,
  numberWidth,
  RowChunk,
  type RowTable,
  rowMask,
} from './row-table.ts'

/**
 * Where a row that is not held is kept. `away`: in no structure, because it is held, in nobody's
 * use, or the head of a list.
 */
export const place = { away: 0, line: 1, side: 2, delayed: 3, idle: 4, parked: 5 } as const

// The packed column `marks`, from the lowest bit.
const whyShift = 0
const laterWhyShift = 2
const parkedBit = 1 << 4
const laterBit = 1 << 5
const placeShift = 6
const claimedWhyShift = 9
const reasonMask = 3
const placeMask = 7
const priorityShift = 16
const belowPriority = (1 << priorityShift) - 1

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

function reasonBits(reason: DueReason): number {
  return reason === 'add' ? 0 : reason === 'delay' ? 1 : 2
}

/**
 * A view of one row as the {@link KeyState} that the transitions work on. There is one per queue,
 * moved from row to row, so that the hot paths see a single shape and make no object.
 */
export class RowCursor implements KeyState {
  /** The row that is looked at. */
  row: number = noRow
  readonly table: RowTable
  readonly #holds: HoldTable
  #chunk: RowChunk
  #numbers: Float64Array
  #integers: Int32Array
  #held: Float64Array
  /** Where the row begins in the chunk's numbers, its integers, and the numbers of its hold. */
  #n = 0
  #i = 0
  #h = 0

  constructor(table: RowTable, holds: HoldTable) {
    this.table = table
    this.#holds = holds
    this.#chunk = new RowChunk(1)
    this.#numbers = this.#chunk.numbers
    this.#integers = this.#chunk.integers
    this.#held = holds.numbers
  }

  /** Looks at `row`. */
  at(row: number): void {
    const chunk = this.table.chunk(row)
    const local = row & rowMask
    this.row = row
    this.#chunk = chunk
    this.#numbers = chunk.numbers
    this.#integers = chunk.integers
    this.#held = this.#holds.numbers
    this.#n = local * numberWidth
    this.#i = local * integerWidth
    this.#h = chunk.integers[this.#i + integerColumn.hold]! * holdWidth
  }

  /** Looks at `row`, and makes it that of a key of which nothing is stored yet. */
  atNew(row: number): void {
    const chunk = this.table.chunk(row)
    const local = row & rowMask
    this.row = row
    this.#chunk = chunk
    this.#numbers = chunk.numbers
    this.#integers = chunk.integers
    this.#held = this.#holds.numbers
    this.#n = local * numberWidth
    this.#i = local * integerWidth
    this.#h = noHold * holdWidth
    this.#numbers[this.#n + numberColumn.dueAt] = never
    this.#numbers[this.#n + numberColumn.failedAt] = never
    this.#integers[this.#i + integerColumn.hold] = noHold
    this.#integers[this.#i + integerColumn.marks] = 0
    this.#integers[this.#i + integerColumn.failures] = 0
    this.#integers[this.#i + integerColumn.crashes] = 0
  }

  get key(): string {
    return this.#chunk.keys[this.row & rowMask]!
  }

  /** Gives the row a slot for what is only stored while it is held. */
  beginHold(holder: string): void {
    const slot = this.#holds.take(this.row, holder)
    this.#held = this.#holds.numbers
    this.#h = slot * holdWidth
    this.#integers[this.#i + integerColumn.hold] = slot
  }

  endHold(): void {
    this.#holds.giveBack(this.#h / holdWidth)
    this.#h = noHold * holdWidth
    this.#integers[this.#i + integerColumn.hold] = noHold
  }

  /** Who holds the key; `''` if nobody does. */
  get holder(): string {
    return this.#holds.holders[this.#h / holdWidth]!
  }

  get place(): number {
    return (this.#integers[this.#i + integerColumn.marks]! >>> placeShift) & placeMask
  }
  set place(value: number) {
    const at = this.#i + integerColumn.marks
    this.#integers[at] = (this.#integers[at]! & ~(placeMask << placeShift)) | (value << placeShift)
  }

  get dueAt(): number {
    return this.#numbers[this.#n + numberColumn.dueAt]!
  }
  set dueAt(value: number) {
    this.#numbers[this.#n + numberColumn.dueAt] = value
  }

  get readyAt(): number {
    return this.#numbers[this.#n + numberColumn.readyAt]!
  }
  set readyAt(value: number) {
    this.#numbers[this.#n + numberColumn.readyAt] = value
  }

  get seq(): number {
    return this.#numbers[this.#n + numberColumn.seq]!
  }
  set seq(value: number) {
    this.#numbers[this.#n + numberColumn.seq] = value
  }

  get askedAt(): number {
    return this.#numbers[this.#n + numberColumn.askedAt]!
  }
  set askedAt(value: number) {
    this.#numbers[this.#n + numberColumn.askedAt] = value
  }

  get failedAt(): number {
    return this.#numbers[this.#n + numberColumn.failedAt]!
  }
  set failedAt(value: number) {
    this.#numbers[this.#n + numberColumn.failedAt] = value
  }

  get failures(): number {
    return this.#integers[this.#i + integerColumn.failures]!
  }
  set failures(value: number) {
    this.#integers[this.#i + integerColumn.failures] = value
  }

  get crashes(): number {
    return this.#integers[this.#i + integerColumn.crashes]!
  }
  set crashes(value: number) {
    this.#integers[this.#i + integerColumn.crashes] = value
  }

  get why(): DueReason {
    return reasons[(this.#integers[this.#i + integerColumn.marks]! >>> whyShift) & reasonMask]!
  }
  set why(value: DueReason) {
    const at = this.#i + integerColumn.marks
    this.#integers[at] =
      (this.#integers[at]! & ~(reasonMask << whyShift)) | (reasonBits(value) << whyShift)
  }

  get laterWhy(): DueReason {
    return reasons[(this.#integers[this.#i + integerColumn.marks]! >>> laterWhyShift) & reasonMask]!
  }
  set laterWhy(value: DueReason) {
    const at = this.#i + integerColumn.marks
    this.#integers[at] =
      (this.#integers[at]! & ~(reasonMask << laterWhyShift)) | (reasonBits(value) << laterWhyShift)
  }

  get parked(): boolean {
    return (this.#integers[this.#i + integerColumn.marks]! & parkedBit) !== 0
  }
  set parked(value: boolean) {
    const at = this.#i + integerColumn.marks
    this.#integers[at] = value ? this.#integers[at]! | parkedBit : this.#integers[at]! & ~parkedBit
  }

  get priority(): number {
    return this.#integers[this.#i + integerColumn.marks]! >> priorityShift
  }
  set priority(value: number) {
    const at = this.#i + integerColumn.marks
    this.#integers[at] = (this.#integers[at]! & belowPriority) | (value << priorityShift)
  }

  get laterAt(): number {
    const marks = this.#integers[this.#i + integerColumn.marks]!
    return (marks & laterBit) === 0 ? never : this.#chunk.laterAts![this.row & rowMask]!
  }
  set laterAt(value: number) {
    const at = this.#i + integerColumn.marks
    if (value === never) this.#integers[at] = this.#integers[at]! & ~laterBit
    else this.#setLaterAt(value)
  }

  #setLaterAt(value: number): void {
    const chunk = this.#chunk
    chunk.laterAts ??= new Float64Array(chunk.integers.length / integerWidth)
    chunk.laterAts[this.row & rowMask] = value
    const at = this.#i + integerColumn.marks
    this.#integers[at] = this.#integers[at]! | laterBit
  }

  get token(): number {
    return this.#held[this.#h + holdColumn.token]!
  }
  set token(value: number) {
    this.#held[this.#h + holdColumn.token] = value
  }

  get leaseUntil(): number {
    return this.#held[this.#h + holdColumn.leaseUntil]!
  }
  set leaseUntil(value: number) {
    this.#held[this.#h + holdColumn.leaseUntil] = value
  }

  get claimedDueAt(): number {
    return this.#held[this.#h + holdColumn.claimedDueAt]!
  }
  set claimedDueAt(value: number) {
    this.#held[this.#h + holdColumn.claimedDueAt] = value
  }

  get claimedReadyAt(): number {
    return this.#held[this.#h + holdColumn.claimedReadyAt]!
  }
  set claimedReadyAt(value: number) {
    this.#held[this.#h + holdColumn.claimedReadyAt] = value
  }

  get claimedSeq(): number {
    return this.#held[this.#h + holdColumn.claimedSeq]!
  }
  set claimedSeq(value: number) {
    this.#held[this.#h + holdColumn.claimedSeq] = value
  }

  get claimedAskedAt(): number {
    return this.#held[this.#h + holdColumn.claimedAskedAt]!
  }
  set claimedAskedAt(value: number) {
    this.#held[this.#h + holdColumn.claimedAskedAt] = value
  }

  get claimedLaterAt(): number {
    return this.#held[this.#h + holdColumn.claimedLaterAt]!
  }
  set claimedLaterAt(value: number) {
    this.#held[this.#h + holdColumn.claimedLaterAt] = value
  }

  get claimedPriority(): number {
    return this.#held[this.#h + holdColumn.claimedPriority]!
  }
  set claimedPriority(value: number) {
    this.#held[this.#h + holdColumn.claimedPriority] = value
  }

  get claimedWhy(): DueReason {
    const marks = this.#integers[this.#i + integerColumn.marks]!
    return reasons[(marks >>> claimedWhyShift) & reasonMask]!
  }
  set claimedWhy(value: DueReason) {
    const at = this.#i + integerColumn.marks
    this.#integers[at] =
      (this.#integers[at]! & ~(reasonMask << claimedWhyShift)) |
      (reasonBits(value) << claimedWhyShift)
  }
}
