import {
  type DirectClaim,
  type DueReason,
  type EpochMs,
  type KeyState,
  never as neverImported,
  noToken as noTokenImported,
} from '@sluice/core/driver'
import {
  type HoldTable,
  holdWidth as holdWidthImported,
  noHold as noHoldImported,
} from './hold-table.ts'
import { noRow as noRowImported, type RowLinks } from './row-links.ts'
import {
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
const numberWidth = numberWidthImported
const rowMask = rowMaskImported

// How the small members share the marks of the row's links, of which the priority is the upper half.
const priorityShift = 16
const whyShift = 4
const laterWhyShift = 6
const claimedWhyShift = 8
const reasonMask = 3
const parkedBit = 1 << 10
/** The chunk's rare numbers hold `laterAt`, `readyAt`, `failedAt` and `crashes` of the row. */
const rareBit = 1 << 11
/** The chunk holds trace contexts of the pending run; the hold, those of the claimed run. */
const traceBit = 1 << 12
const claimedTraceBit = 1 << 13
/** A row with one of these is not plain. */
const specialBits = parkedBit | rareBit | traceBit | claimedTraceBit

// Where the integers of a row are, from twice the index of its numbers.
const failuresColumn = 6
const slotColumn = 7

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
  trace: string | undefined = undefined
  token = 0.5
  leaseUntil = 0.5
  claimedDueAt = 0.5
  claimedWhy: DueReason = 'add'
  claimedLaterAt = 0.5
  claimedReadyAt = 0.5
  claimedSeq = 0.5
  claimedPriority = 0
  claimedAskedAt = 0.5
  claimedTrace: string | undefined = undefined
  failures = 0
  crashes = 0
  failedAt = 0.5
  parked = false
  /** The holder of the key while it is held. */
  holder = ''

  private readonly table: RowTable
  private readonly links: RowLinks
  private readonly holds: HoldTable
  /** The slot of the packed hold; `noHold` if there is none. */
  private slot: number = noHold

  constructor(table: RowTable, holds: HoldTable) {
    this.table = table
    this.links = table.links
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
    this.trace = undefined
    this.claimedTrace = undefined
    this.slot = noHold
  }

  /** Writes back the changes, and leaves the row. */
  rest(): void {
    this.pack()
    this.row = noRow
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
    const { integers, numbers } = chunk
    const n = (this.row & rowMask) * numberWidth
    numbers[n] = this.dueAt
    numbers[n + 1] = this.askedAt
    numbers[n + 2] = this.seq
    let marks =
      (codeOf(this.why) << whyShift) |
      (codeOf(this.laterWhy) << laterWhyShift) |
      (codeOf(this.claimedWhy) << claimedWhyShift) |
      (this.priority << priorityShift)
    if (this.parked) marks |= parkedBit
    if (this.isRare) {
      marks |= rareBit
      chunk.rare ??= new Float64Array(numbers.length)
      const { rare } = chunk
      rare[n] = this.laterAt
      rare[n + 1] = this.readyAt
      rare[n + 2] = this.failedAt
      rare[n + 3] = this.crashes
    }
    if (this.trace !== undefined) {
      marks |= traceBit
      this.table.setTrace(this.row, this.trace)
    }
    if (this.claimedTrace !== undefined) marks |= claimedTraceBit
    this.links.setMarks(this.row, marks)
    integers[2 * n + failuresColumn] = this.failures
    if (this.token !== noToken) this.packHold()
    else if (this.slot !== noHold) this.endHold()
    integers[2 * n + slotColumn] = this.slot
  }

  /** Whether a member is not what it is in nearly every row, and what {@link unpack} assumes. */
  private get isRare(): boolean {
    return (
      this.laterAt !== never ||
      this.crashes !== 0 ||
      this.failedAt !== (this.failures === 0 ? never : this.askedAt) ||
      this.readyAt !== this.usualReadyAt
    )
  }

  private get usualReadyAt(): number {
    return this.dueAt === never && this.token !== noToken ? this.claimedReadyAt : this.dueAt
  }

  private unpack(row: number): void {
    this.pack()
    this.row = row
    const chunk = this.table.chunk(row)
    this.key = chunk.keys[row & rowMask]!
    const { integers, numbers } = chunk
    const n = (row & rowMask) * numberWidth
    this.dueAt = numbers[n]!
    this.askedAt = numbers[n + 1]!
    this.seq = numbers[n + 2]!
    this.failures = integers[2 * n + failuresColumn]!
    this.slot = integers[2 * n + slotColumn]!
    const marks = this.links.marks(row)
    this.why = reasons[(marks >> whyShift) & reasonMask]!
    this.laterWhy = reasons[(marks >> laterWhyShift) & reasonMask]!
    this.priority = marks >> priorityShift
    this.parked = (marks & parkedBit) !== 0
    this.claimedWhy = reasons[(marks >> claimedWhyShift) & reasonMask]!
    this.trace = (marks & traceBit) === 0 ? undefined : chunk.traces![row & rowMask]
    this.claimedTrace = undefined
    if (this.slot === noHold) {
      this.token = noToken
      this.leaseUntil = never
    } else {
      this.unpackHold()
      if ((marks & claimedTraceBit) !== 0) this.claimedTrace = this.holds.traces[this.slot]
    }
    if ((marks & rareBit) === 0) {
      this.laterAt = never
      this.readyAt = this.usualReadyAt
      this.failedAt = this.failures === 0 ? never : this.askedAt
      this.crashes = 0
    } else {
      const rare = chunk.rare!
      this.laterAt = rare[n]!
      this.readyAt = rare[n + 1]!
      this.failedAt = rare[n + 2]!
      this.crashes = rare[n + 3]!
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
    if (this.claimedTrace !== undefined) holds.setTrace(this.slot, this.claimedTrace)
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
    const n = (this.row & rowMask) * numberWidth
    this.table.chunk(this.row).integers[2 * n + slotColumn] = noHold
  }

  /**
   * Whether a row is plain: its key is not parked, has no second run, no crash, no trace context and
   * nothing else that few keys have, and is not the cursor's, of which the packed row may be out of date.
   *
   * The members below do the frequent steps of such a key on its packed row. They change what the
   * transitions of the same names change, of which there is little.
   */
  isPlain(row: number): boolean {
    return row !== this.row && (this.links.marks(row) & specialBits) === 0
  }

  plainDueAt(row: number): EpochMs {
    return this.table.chunk(row).numbers[(row & rowMask) * numberWidth]!
  }

  plainPriority(row: number): number {
    return this.links.marks(row) >> priorityShift
  }

  /** Adds a key of which nothing was stored, after so many failures. */
  addPlain(
    row: number,
    dueAt: EpochMs,
    why: DueReason,
    priority: number,
    failures: number,
    now: EpochMs,
    seq: number,
  ): void {
    const { integers, numbers } = this.table.chunk(row)
    const n = (row & rowMask) * numberWidth
    numbers[n] = dueAt
    numbers[n + 1] = now
    numbers[n + 2] = seq
    integers[2 * n + failuresColumn] = failures
    integers[2 * n + slotColumn] = noHold
    this.links.setMarks(row, (priority << priorityShift) | (codeOf(why) << whyShift))
  }

  /** Claims without a lease. */
  claimPlain(row: number, token: number, holder: string, into: DirectClaim): void {
    const { holds, links } = this
    const { integers, keys, numbers } = this.table.chunk(row)
    const at = row & rowMask
    const n = at * numberWidth
    const marks = links.marks(row)
    const askedAt = numbers[n + 1]!
    const priority = marks >> priorityShift
    const slot = holds.allocate(row)
    const h = slot * holdWidth
    const held = holds.numbers
    held[h] = token
    held[h + 1] = never
    held[h + 2] = numbers[n]!
    held[h + 3] = never
    held[h + 4] = numbers[n]!
    held[h + 5] = numbers[n + 2]!
    held[h + 6] = priority
    held[h + 7] = askedAt
    holds.holders[slot] = holder
    numbers[n] = never
    integers[2 * n + slotColumn] = slot
    const why = (marks >> whyShift) & reasonMask
    links.setMarks(row, (marks & ~(reasonMask << claimedWhyShift)) | (why << claimedWhyShift))
    into.key = keys[at]!
    into.itemText = this.table.itemAt(row)
    into.token = token
    into.handle = row
    into.failures = integers[2 * n + failuresColumn]!
    into.crashes = 0
    into.priority = priority
    into.askedAt = askedAt
  }

  /** Sets the failures of a key to zero; false if they are. */
  forgetPlain(row: number): boolean {
    const { integers } = this.table.chunk(row)
    const at = 2 * (row & rowMask) * numberWidth + failuresColumn
    if (integers[at] === 0) return false
    integers[at] = 0
    return true
  }

  /** Ends a run of which nothing remains to be stored; false if it is not known to be one. */
  endPlain(row: number, token: number, forgets: boolean): boolean {
    const { integers, numbers } = this.table.chunk(row)
    const n = (row & rowMask) * numberWidth
    const slot = integers[2 * n + slotColumn]!
    if (slot === noHold || numbers[n] !== never || token === noToken) return false
    if (this.holds.numbers[slot * holdWidth] !== token) return false
    if (!forgets && integers[2 * n + failuresColumn] !== 0) return false
    integers[2 * n + slotColumn] = noHold
    this.holds.release(slot)
    return true
  }
}
