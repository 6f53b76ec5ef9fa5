import {
  type DirectClaim,
  type DueReason,
  type EpochMs,
  type KeyState,
  never as neverImported,
  noToken as noTokenImported,
} from '@sluice/core/driver'
import { list as listImported, noRow as noRowImported, type RowLinks } from './row-links.ts'
import {
  numberWidth as numberWidthImported,
  type RowTable,
  rareWidth as rareWidthImported,
  rowMask as rowMaskImported,
} from './row-table.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noToken = noTokenImported
const noRow = noRowImported
const numberWidth = numberWidthImported
const rareWidth = rareWidthImported
const rowMask = rowMaskImported
const list = listImported

// How the small members share the marks of a row, of which the priority is the upper half.
const priorityShift = 16
const whyShift = 4
const laterWhyShift = 6
const reasonMask = 3
const parkedBit = 1 << 10
/** The chunk's rare numbers hold `laterAt`, `readyAt`, `failedAt` and `crashes` of the row. */
const rareBit = 1 << 11
/** The chunk holds trace contexts of the pending run. */
const traceBit = 1 << 12
/** The key is held, and what is stored of that is in {@link RowCursor.holds}. */
const holdBit = 1 << 13
/** A row with one of these is not plain. */
const specialBits = parkedBit | rareBit | traceBit | holdBit

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

function codeOf(reason: DueReason): number {
  return reason === 'add' ? 0 : reason === 'delay' ? 1 : 2
}

/** What is stored of a key only while it is held. */
type Hold = Pick<
  KeyState,
  | 'token'
  | 'leaseUntil'
  | 'claimedDueAt'
  | 'claimedWhy'
  | 'claimedLaterAt'
  | 'claimedReadyAt'
  | 'claimedSeq'
  | 'claimedPriority'
  | 'claimedAskedAt'
  | 'claimedTrace'
> & { readonly holder: string }

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
  /** The holder of the held keys that are not in {@link holds}. */
  plainHolder = ''

  private readonly table: RowTable
  private readonly links: RowLinks
  /** The holds, by row, that are not plain: those with a lease, and of keys that were added again. */
  readonly holds: Map<number, Hold> = new Map()

  constructor(table: RowTable) {
    this.table = table
    this.links = table.links
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
  }

  /** Leaves the row, which is about to be released. */
  leave(): void {
    if (this.holds.size > 0) this.holds.delete(this.row)
    this.row = noRow
    this.isDirty = false
  }

  /** Writes back the changes. */
  pack(): void {
    if (!this.isDirty) return
    this.isDirty = false
    const chunk = this.table.chunk(this.row)
    const { numbers } = chunk
    const at = this.row & rowMask
    const n = at * numberWidth
    const isPlainHold = this.token !== noToken && this.isPlainHold
    numbers[n] = isPlainHold ? this.claimedDueAt : this.dueAt
    numbers[n + 1] = this.askedAt
    numbers[n + 2] = this.seq
    let marks =
      (codeOf(this.why) << whyShift) |
      (codeOf(this.laterWhy) << laterWhyShift) |
      (this.priority << priorityShift)
    if (this.parked) marks |= parkedBit
    if (this.isRare) {
      marks |= rareBit
      chunk.rare ??= new Float64Array(chunk.keys.length * rareWidth)
      const { rare } = chunk
      const r = at * rareWidth
      rare[r] = this.laterAt
      rare[r + 1] = this.readyAt
      rare[r + 2] = this.failedAt
      rare[r + 3] = this.crashes
    }
    if (this.trace !== undefined) {
      marks |= traceBit
      this.table.setTrace(this.row, this.trace)
    }
    if (this.token !== noToken && !isPlainHold) {
      marks |= holdBit
      this.packHold()
    } else if (this.holds.size > 0) this.holds.delete(this.row)
    this.links.setMarks(this.row, marks)
    if (isPlainHold) this.links.hold(this.row, this.token)
    this.links.setFailures(this.row, this.failures)
  }

  /**
   * Whether nothing was added to the held key since the claim, which had no lease: the row then keeps
   * the claimed run in place of the pending one.
   */
  private get isPlainHold(): boolean {
    return (
      this.dueAt === never &&
      this.leaseUntil === never &&
      this.claimedLaterAt === never &&
      this.claimedReadyAt === this.claimedDueAt &&
      this.claimedAskedAt === this.askedAt &&
      this.claimedSeq === this.seq &&
      this.claimedPriority === this.priority &&
      this.claimedWhy === this.why &&
      this.claimedTrace === undefined &&
      this.holder === this.plainHolder
    )
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
    const { numbers } = chunk
    const n = (row & rowMask) * numberWidth
    this.dueAt = numbers[n]!
    this.askedAt = numbers[n + 1]!
    this.seq = numbers[n + 2]!
    this.failures = this.links.failures(row)
    const marks = this.links.marks(row)
    this.why = reasons[(marks >> whyShift) & reasonMask]!
    this.laterWhy = reasons[(marks >> laterWhyShift) & reasonMask]!
    this.priority = marks >> priorityShift
    this.parked = (marks & parkedBit) !== 0
    this.trace = (marks & traceBit) === 0 ? undefined : chunk.traces![row & rowMask]
    this.claimedTrace = undefined
    this.token = noToken
    this.leaseUntil = never
    if ((marks & holdBit) !== 0) this.unpackHold()
    else if (this.links.listOf(row) === list.held) this.unpackPlainHold()
    if ((marks & rareBit) === 0) {
      this.laterAt = never
      this.readyAt = this.usualReadyAt
      this.failedAt = this.failures === 0 ? never : this.askedAt
      this.crashes = 0
    } else {
      const rare = chunk.rare!
      const r = (row & rowMask) * rareWidth
      this.laterAt = rare[r]!
      this.readyAt = rare[r + 1]!
      this.failedAt = rare[r + 2]!
      this.crashes = rare[r + 3]!
    }
  }

  /** When a row that is not held is due. */
  dueAtOf(row: number): EpochMs {
    if (row === this.row) return this.dueAt
    return this.table.chunk(row).numbers[(row & rowMask) * numberWidth]!
  }

  /** When a row that is not held became ready, or will. */
  readyAtOf(row: number): EpochMs {
    if (row === this.row) return this.readyAt
    const { numbers, rare } = this.table.chunk(row)
    const at = row & rowMask
    const isRare = (this.links.marks(row) & rareBit) !== 0
    return isRare ? rare![at * rareWidth + 1]! : numbers[at * numberWidth]!
  }

  seqOf(row: number): number {
    if (row === this.row) return this.seq
    return this.table.chunk(row).numbers[(row & rowMask) * numberWidth + 2]!
  }

  priorityOf(row: number): number {
    return row === this.row ? this.priority : this.links.marks(row) >> priorityShift
  }

  private packHold(): void {
    this.holds.set(this.row, {
      token: this.token,
      leaseUntil: this.leaseUntil,
      claimedDueAt: this.claimedDueAt,
      claimedWhy: this.claimedWhy,
      claimedLaterAt: this.claimedLaterAt,
      claimedReadyAt: this.claimedReadyAt,
      claimedSeq: this.claimedSeq,
      claimedPriority: this.claimedPriority,
      claimedAskedAt: this.claimedAskedAt,
      claimedTrace: this.claimedTrace,
      holder: this.holder,
    })
  }

  private unpackHold(): void {
    const hold = this.holds.get(this.row)!
    this.token = hold.token
    this.leaseUntil = hold.leaseUntil
    this.claimedDueAt = hold.claimedDueAt
    this.claimedWhy = hold.claimedWhy
    this.claimedLaterAt = hold.claimedLaterAt
    this.claimedReadyAt = hold.claimedReadyAt
    this.claimedSeq = hold.claimedSeq
    this.claimedPriority = hold.claimedPriority
    this.claimedAskedAt = hold.claimedAskedAt
    this.claimedTrace = hold.claimedTrace
    this.holder = hold.holder
  }

  private unpackPlainHold(): void {
    this.token = this.links.token(this.row)
    this.holder = this.plainHolder
    this.claimedDueAt = this.dueAt
    this.claimedLaterAt = never
    this.claimedReadyAt = this.dueAt
    this.claimedSeq = this.seq
    this.claimedPriority = this.priority
    this.claimedAskedAt = this.askedAt
    this.claimedWhy = this.why
    this.dueAt = never
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
    const { numbers } = this.table.chunk(row)
    const n = (row & rowMask) * numberWidth
    numbers[n] = dueAt
    numbers[n + 1] = now
    numbers[n + 2] = seq
    this.links.start(row, (priority << priorityShift) | (codeOf(why) << whyShift), failures)
  }

  /** Claims without a lease for {@link plainHolder}. */
  claimPlain(row: number, token: number, into: DirectClaim): void {
    const { links } = this
    const { keys, numbers } = this.table.chunk(row)
    const at = row & rowMask
    links.hold(row, token)
    into.key = keys[at]!
    into.itemText = this.table.itemAt(row)
    into.token = token
    into.handle = row
    into.failures = links.failures(row)
    into.crashes = 0
    into.priority = links.marks(row) >> priorityShift
    into.askedAt = numbers[at * numberWidth + 1]!
  }

  /** Sets the failures of a key to zero; false if they are. */
  forgetPlain(row: number): boolean {
    if (this.links.failures(row) === 0) return false
    this.links.setFailures(row, 0)
    return true
  }

  /** Whether the row is held under this token, and nothing remains to be stored after the run. */
  endsPlain(row: number, token: number, forgets: boolean): boolean {
    const { links } = this
    return links.isHeld(row, token) && (forgets || links.failures(row) === 0)
  }
}
