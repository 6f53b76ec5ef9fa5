import {
  type DueReason,
  type KeyState,
  never as neverImported,
  noToken as noTokenImported,
} from '@sluice/core/driver'
import {
  type HoldTable,
  holdWidth as holdWidthImported,
  noHold as noHoldImported,
} from './hold-table.ts'
import { noRow as noRowImported } from './row-links.ts'
import {
  integerWidth as integerWidthImported,
  numberWidth as numberWidthImported,
  type RowTable,
  rowMask as rowMaskImported,
} from './row-table.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noToken = noTokenImported
const noRow = noRowImported
const noHold = noHoldImported
const holdWidth = holdWidthImported
const integerWidth = integerWidthImported
const numberWidth = numberWidthImported
const rowMask = rowMaskImported

// How the small members share one integer.
const laterWhyShift = 2
const claimedWhyShift = 4
const reasonMask = 3
const parkedBit = 1 << 6
const laterBit = 1 << 7
const priorityShift = 16

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

function codeOf(reason: DueReason): number {
  return reason === 'add' ? 0 : reason === 'delay' ? 1 : 2
}

/**
 * One row, unpacked: the {@link KeyState} that the transitions work on. There is one cursor per
 * queue, moved from row to row, so that they see a single shape and make no object.
 *
 * It keeps what was changed, and writes it back only when it is moved away. A key that is added,
 * claimed and done before another one comes between is never packed at all.
 *
 * Accessors over the packed columns are a third slower: decision 0020.
 */
export class RowCursor implements KeyState {
  /** The row that the cursor is on. */
  row: number = noRow
  /** Its key. */
  key = ''
  /** Whether members were changed since they were unpacked. The code that changes them sets it. */
  isDirty = false

  // Instants and wide counters begin as fractions, so that the engine keeps them as floats for
  // good.
  dueAt = 0.5
  why: DueReason = 'add'
  laterAt = 0.5
  laterWhy: DueReason = 'add'
  readyAt = 0.5
  seq = 0.5
  priority = 0
  askedAt = 0.5
  token = 0.5
  leaseUntil = 0.5
  claimedDueAt = 0.5
  claimedWhy: DueReason = 'add'
  claimedLaterAt = 0.5
  claimedReadyAt = 0.5
  claimedSeq = 0.5
  claimedPriority = 0
  claimedAskedAt = 0.5
  failures = 0
  crashes = 0
  failedAt = 0.5
  parked = false
  /** The holder of the key while it is held. */
  holder = ''

  private readonly table: RowTable
  private readonly holds: HoldTable
  /** The slot of the packed hold; `noHold` if there is none. */
  private slot: number = noHold

  constructor(table: RowTable, holds: HoldTable) {
    this.table = table
    this.holds = holds
  }

  /** Moves the cursor to `row`. */
  at(row: number): void {
    if (row !== this.row) this.unpack(row)
  }

  /**
   * Looks at `row`, and makes it that of a key of which nothing is stored yet. What means nothing
   * without a pending run keeps its old value.
   */
  atNew(row: number, key: string): void {
    this.pack()
    this.row = row
    this.key = key
    this.isDirty = true
    this.dueAt = never
    this.laterAt = never
    this.token = noToken
    this.leaseUntil = never
    this.failures = 0
    this.crashes = 0
    this.failedAt = never
    this.parked = false
    this.slot = noHold
  }

  /** Leaves the row, which is about to be released. */
  leave(): void {
    if (this.slot !== noHold) this.endHold()
    this.row = noRow
    this.isDirty = false
  }

  /** Writes back the changes. */
  pack(): void {
    if (!this.isDirty) return
    this.isDirty = false
    const chunk = this.table.chunk(this.row)
    const at = this.row & rowMask
    const { integers, numbers } = chunk
    const n = at * numberWidth
    numbers[n] = this.dueAt
    numbers[n + 1] = this.readyAt
    numbers[n + 2] = this.seq
    numbers[n + 3] = this.askedAt
    numbers[n + 4] = this.failedAt
    let marks =
      codeOf(this.why) |
      (codeOf(this.laterWhy) << laterWhyShift) |
      (codeOf(this.claimedWhy) << claimedWhyShift) |
      (this.priority << priorityShift)
    if (this.parked) marks |= parkedBit
    if (this.laterAt !== never) {
      marks |= laterBit
      chunk.setLaterAt(at, this.laterAt)
    }
    const i = at * integerWidth
    integers[i] = marks
    integers[i + 1] = this.failures
    integers[i + 2] = this.crashes
    if (this.token !== noToken) this.packHold()
    else if (this.slot !== noHold) this.endHold()
    integers[i + 3] = this.slot
  }

  private unpack(row: number): void {
    this.pack()
    this.row = row
    const chunk = this.table.chunk(row)
    const at = row & rowMask
    this.key = chunk.keys[at]!
    const { integers, numbers } = chunk
    const n = at * numberWidth
    this.dueAt = numbers[n]!
    this.readyAt = numbers[n + 1]!
    this.seq = numbers[n + 2]!
    this.askedAt = numbers[n + 3]!
    this.failedAt = numbers[n + 4]!
    const i = at * integerWidth
    const marks = integers[i]!
    this.why = reasons[marks & reasonMask]!
    this.laterWhy = reasons[(marks >> laterWhyShift) & reasonMask]!
    this.priority = marks >> priorityShift
    this.parked = (marks & parkedBit) !== 0
    this.laterAt = (marks & laterBit) === 0 ? never : chunk.laterAts![at]!
    this.failures = integers[i + 1]!
    this.crashes = integers[i + 2]!
    this.slot = integers[i + 3]!
    if (this.slot === noHold) {
      this.token = noToken
      this.leaseUntil = never
    } else {
      this.claimedWhy = reasons[(marks >> claimedWhyShift) & reasonMask]!
      this.unpackHold()
    }
  }

  private packHold(): void {
    const { holds } = this
    if (this.slot === noHold) this.slot = holds.allocate(this.row)
    // The slot may be that of a hold that ended since the row was unpacked.
    holds.holders[this.slot] = this.holder
    const { numbers } = holds
    const h = this.slot * holdWidth
    numbers[h] = this.token
    numbers[h + 1] = this.leaseUntil
    numbers[h + 2] = this.claimedDueAt
    numbers[h + 3] = this.claimedLaterAt
    numbers[h + 4] = this.claimedReadyAt
    numbers[h + 5] = this.claimedSeq
    numbers[h + 6] = this.claimedPriority
    numbers[h + 7] = this.claimedAskedAt
  }

  private unpackHold(): void {
    const { numbers, holders } = this.holds
    const h = this.slot * holdWidth
    this.token = numbers[h]!
    this.leaseUntil = numbers[h + 1]!
    this.claimedDueAt = numbers[h + 2]!
    this.claimedLaterAt = numbers[h + 3]!
    this.claimedReadyAt = numbers[h + 4]!
    this.claimedSeq = numbers[h + 5]!
    this.claimedPriority = numbers[h + 6]!
    this.claimedAskedAt = numbers[h + 7]!
    this.holder = holders[this.slot]!
  }

  private endHold(): void {
    this.holds.release(this.slot)
    this.slot = noHold
    this.table.chunk(this.row).integers[(this.row & rowMask) * integerWidth + 3] = noHold
  }
}
