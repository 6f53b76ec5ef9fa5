import {
  type DirectClaim,
  type DueReason,
  type EpochMs,
  emptyKeyState,
  type KeyState,
  never as neverImported,
  noToken as noTokenImported,
} from '@sluice/core/driver'
import { list as listImported, type RowLinks } from './row-links.ts'
import {
  numberWidth as numberWidthImported,
  type RowTable,
  rowMask as rowMaskImported,
  text,
} from './row-table.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const never = neverImported
const noToken = noTokenImported
const numberWidth = numberWidthImported
const rowMask = rowMaskImported
const list = listImported

// How the small members share the marks of a row, of which the priority is the upper half.
const priorityShift = 16
const whyShift = 4
const reasonMask = 3
/** The chunk holds trace contexts of the pending run. */
const traceBit = 1 << 10
/** The row has an object. */
const objectBit = 1 << 11
/** A row with one of these is not plain. */
const specialBits = traceBit | objectBit

/** How many objects that no row needs any more are kept for other rows. */
const sparesMax = 1_000

const reasons: readonly DueReason[] = ['add', 'delay', 'backoff']

function codeOf(reason: DueReason): number {
  return reason === 'add' ? 0 : reason === 'delay' ? 1 : 2
}

/** All that is stored of a key but its texts. */
export interface RowState extends KeyState {
  /** The holder of the key while it is held. */
  holder: string
}

function newState(): RowState {
  return { ...emptyKeyState(), holder: '' }
}

/** When `failures` last rose, in a row without an object. */
function usualFailedAt(failures: number, askedAt: EpochMs): EpochMs {
  return failures === 0 ? never : askedAt
}

/**
 * The state of each row: in columns of numbers, or in an object if it is more than the columns
 * have room for, such as a second run, a crash, a lease, or a run of a held key.
 *
 * A transition changes what {@link read} returns, and {@link write} stores the result where it belongs.
 */
export class RowStates {
  /** The holder of the held keys whose rows have no object. */
  usualHolder = ''
  /** The objects of the rows that have one, which store its index in place of the failures. */
  readonly objects: RowState[] = []
  /** The indexes in {@link objects} that no row stores, where {@link nothing} is. */
  private readonly free: number[] = []
  private readonly nothing: RowState = newState()
  private readonly table: RowTable
  private readonly links: RowLinks
  /** Returned by {@link read} for a row without an object; becomes that of a row that needs one. */
  private spare: RowState = newState()
  private readonly spares: RowState[] = []

  constructor(table: RowTable) {
    this.table = table
    this.links = table.links
  }

  /** All of a row, up to the next call. To be changed only if {@link write} follows. */
  read(row: number): RowState {
    return this.hasObject(row) ? this.objectOf(row) : this.unpack(row)
  }

  /** Stores the state of a row, which {@link read} returned. */
  write(row: number, state: RowState): void {
    const { links } = this
    const isHeld = state.token !== noToken
    const marks = state.priority << priorityShift
    if (!(isHeld ? this.hasUsualHold(state) : this.hasUsualRun(state))) {
      if (state === this.spare) {
        const index = this.free.pop() ?? this.objects.length
        this.objects[index] = state
        links.setFailures(row, index)
        this.spare = this.spares.pop() ?? newState()
      }
      links.setMarks(row, marks | objectBit)
      return
    }
    this.drop(row)
    const { numbers } = this.table.chunk(row)
    const n = (row & rowMask) * numberWidth
    numbers[n] = isHeld ? state.claimedDueAt : state.dueAt
    numbers[n + 1] = isHeld ? state.claimedAskedAt : state.askedAt
    numbers[n + 2] = isHeld ? state.claimedSeq : state.seq
    links.setFailures(row, state.failures)
    if (isHeld) {
      const { claimedPriority, claimedWhy, token } = state
      links.setMarks(row, (claimedPriority << priorityShift) | (codeOf(claimedWhy) << whyShift))
      links.hold(row, token)
    } else {
      const hasTrace = state.trace !== undefined
      if (hasTrace) this.table.setText(text.trace, row, state.trace)
      links.setMarks(row, marks | (codeOf(state.why) << whyShift) | (hasTrace ? traceBit : 0))
    }
  }

  /** Drops the object of a row that does not need one any more. */
  drop(row: number): void {
    if (!this.hasObject(row)) return
    const index = this.links.failures(row)
    if (this.spares.length < sparesMax) this.spares.push(this.objects[index]!)
    this.objects[index] = this.nothing
    this.free.push(index)
  }

  private hasObject(row: number): boolean {
    return (this.links.marks(row) & objectBit) !== 0
  }

  private objectOf(row: number): RowState {
    return this.objects[this.links.failures(row)]!
  }

  /** Whether the columns have room for a key that is not held. */
  private hasUsualRun(state: RowState): boolean {
    return (
      (state.readyAt === state.dueAt || state.dueAt === never) &&
      state.laterAt === never &&
      state.crashes === 0 &&
      state.failedAt === usualFailedAt(state.failures, state.askedAt)
    )
  }

  /** Whether the columns have room for a held key: for the claimed run, in place of a pending one. */
  private hasUsualHold(state: RowState): boolean {
    return (
      state.dueAt === never &&
      state.leaseUntil === never &&
      state.claimedReadyAt === state.claimedDueAt &&
      state.claimedLaterAt === never &&
      state.claimedTrace === undefined &&
      state.holder === this.usualHolder &&
      state.crashes === 0 &&
      state.failedAt === usualFailedAt(state.failures, state.claimedAskedAt) &&
      !state.parked
    )
  }

  private unpack(row: number): RowState {
    const { links, spare: state, table } = this
    const { numbers } = table.chunk(row)
    const n = (row & rowMask) * numberWidth
    const marks = links.marks(row)
    const where = links.listOf(row)
    const isHeld = where === list.held
    const dueAt = numbers[n]!
    const askedAt = numbers[n + 1]!
    const seq = numbers[n + 2]!
    const why = reasons[(marks >> whyShift) & reasonMask]!
    const priority = marks >> priorityShift
    const failures = links.failures(row)
    state.dueAt = isHeld ? never : dueAt
    state.why = why
    state.laterAt = never
    state.readyAt = dueAt
    state.seq = seq
    state.priority = priority
    state.askedAt = askedAt
    state.trace = (marks & traceBit) === 0 ? undefined : table.textAt(text.trace, row)
    state.token = isHeld ? links.token(row) : noToken
    state.leaseUntil = never
    state.claimedDueAt = dueAt
    state.claimedWhy = why
    state.claimedLaterAt = never
    state.claimedReadyAt = dueAt
    state.claimedSeq = seq
    state.claimedPriority = priority
    state.claimedAskedAt = askedAt
    state.claimedTrace = undefined
    state.failures = failures
    state.crashes = 0
    state.failedAt = usualFailedAt(failures, askedAt)
    state.parked = where === list.parked
    state.holder = this.usualHolder
    return state
  }

  /** When a row that is not held is due. */
  dueAtOf(row: number): EpochMs {
    if (this.hasObject(row)) return this.objectOf(row).dueAt
    return this.table.chunk(row).numbers[(row & rowMask) * numberWidth]!
  }

  /** When a row that is not held became ready, or will. */
  readyAtOf(row: number): EpochMs {
    if (this.hasObject(row)) return this.objectOf(row).readyAt
    return this.table.chunk(row).numbers[(row & rowMask) * numberWidth]!
  }

  /** The position of a row that is not held among those of the same instant. */
  seqOf(row: number): number {
    if (this.hasObject(row)) return this.objectOf(row).seq
    return this.table.chunk(row).numbers[(row & rowMask) * numberWidth + 2]!
  }

  priorityOf(row: number): number {
    return this.links.marks(row) >> priorityShift
  }

  /**
   * Whether a row has neither an object nor a trace context. The frequent steps of such a row change only
   * its columns: the two below, and those of `DirectVerbs` where it asks this. They change what the
   * transitions of the same names change, of which there is little.
   */
  isPlain(row: number): boolean {
    return (this.links.marks(row) & specialBits) === 0
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

  /** Claims without a lease for {@link usualHolder}. */
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
}
