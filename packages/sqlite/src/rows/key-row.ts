import { emptyKeyState, type KeyState, never, noToken } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import type { SqliteValue } from '../library/database.ts'
import { instantOf, reasonOf, storedInstant, storedReason } from './columns.ts'

/** A row of `sluice_keys` as SQLite gives it. */
export interface KeyColumns {
  readonly id: number
  readonly key: string
  readonly due_at: number | null
  readonly due_why: number
  readonly later_at: number | null
  readonly later_why: number | null
  readonly ready_at: number | null
  readonly seq: number | null
  readonly priority: number
  readonly asked_at: number | null
  readonly token: number | null
  readonly lease_until: number | null
  readonly holder: number | null
  readonly claim: number | null
  readonly next_due_at: number | null
  readonly next_why: number | null
  readonly next_seq: number | null
  readonly next_priority: number | null
  readonly next_asked_at: number | null
  readonly next_later_at: number | null
  readonly next_later_why: number | null
  readonly failures: number
  readonly crashes: number
  readonly failed_at: number | null
  readonly parked: number
  readonly item: string | null
  readonly last_error: string | null
  readonly trace: string | null
  readonly next_trace: string | null
}

/** One key: the state that the transitions change, and the columns that they do not know. */
export interface StoredKey {
  /** `undefined`: nothing is stored of the key yet. */
  readonly id: number | undefined
  readonly key: string
  readonly state: KeyState
  item: string | null
  /** Numbers; see `holder.ts` and `claimNumber` of core. Null if the key is not held. */
  holder: number | null
  claim: number | null
  lastError: string | null
}

/** A key of which nothing is stored. */
export function newKey(key: string): StoredKey {
  return {
    id: undefined,
    key,
    state: emptyKeyState(),
    item: null,
    holder: null,
    claim: null,
    lastError: null,
  }
}

/**
 * A stored key. The columns of the run are the pending run of a key that is not held, and the
 * claimed run of a held one; the `next_` columns are the pending run of a held one.
 */
export function storedKey(row: KeyColumns): StoredKey {
  const state = emptyKeyState()
  state.failures = row.failures
  state.crashes = row.crashes
  state.failedAt = instantOf(row.failed_at)
  state.parked = row.parked === 1
  if (row.token === null) readPending(state, row)
  else readHeld(state, row, row.token)
  return {
    id: row.id,
    key: row.key,
    state,
    item: row.item,
    holder: row.holder,
    claim: row.claim,
    lastError: row.last_error,
  }
}

function readPending(state: KeyState, row: KeyColumns): void {
  if (row.due_at === null) return
  state.dueAt = row.due_at
  state.why = reasonOf(row.due_why)
  state.laterAt = instantOf(row.later_at)
  state.laterWhy = reasonOf(row.later_why)
  state.readyAt = instantOf(row.ready_at)
  state.seq = row.seq ?? 0
  state.priority = row.priority
  state.askedAt = instantOf(row.asked_at)
  state.trace = row.trace ?? undefined
}

function readHeld(state: KeyState, row: KeyColumns, token: number): void {
  state.token = token
  state.leaseUntil = instantOf(row.lease_until)
  state.claimedDueAt = instantOf(row.due_at)
  state.claimedWhy = reasonOf(row.due_why)
  state.claimedLaterAt = instantOf(row.later_at)
  state.claimedReadyAt = instantOf(row.ready_at)
  state.claimedSeq = row.seq ?? 0
  state.claimedPriority = row.priority
  state.claimedAskedAt = instantOf(row.asked_at)
  state.claimedTrace = row.trace ?? undefined
  state.trace = row.next_trace ?? undefined
  // Without a pending run these members mean nothing; they have the values that a claim leaves.
  const isPending = row.next_due_at !== null
  state.dueAt = instantOf(row.next_due_at)
  state.why = isPending ? reasonOf(row.next_why) : state.claimedWhy
  state.laterAt = instantOf(row.next_later_at)
  state.laterWhy = reasonOf(row.next_later_why)
  // The next run of a held key has no position yet: it gets one when the key is released.
  state.readyAt = isPending ? state.dueAt : state.claimedReadyAt
  state.seq = row.next_seq ?? state.claimedSeq
  state.priority = row.next_priority ?? state.claimedPriority
  state.askedAt = isPending ? instantOf(row.next_asked_at) : state.claimedAskedAt
}

/** The columns of a key from `due_at` on, in the order of the schema. */
export function columnsOf(stored: StoredKey): SqliteValue[] {
  const { state } = stored
  return [
    ...(state.token === noToken ? pendingColumns(state) : heldColumns(stored)),
    state.failures,
    state.crashes,
    storedInstant(state.failedAt),
    state.parked ? 1 : 0,
    stored.item,
    stored.lastError,
    ...(state.token === noToken ? [state.trace ?? null, null] : heldTraces(state)),
  ]
}

function heldTraces({ claimedTrace, trace }: KeyState): SqliteValue[] {
  return [claimedTrace ?? null, trace ?? null]
}

const notHeld: readonly SqliteValue[] = Array<null>(4).fill(null)
const nothingNext: readonly SqliteValue[] = Array<null>(7).fill(null)
const nothingPending: readonly SqliteValue[] = [null, 0, null, null, null, null, 0, null]

function pendingColumns(state: KeyState): SqliteValue[] {
  if (state.dueAt === never) return [...nothingPending, ...notHeld, ...nothingNext]
  return [
    state.dueAt,
    storedReason(state.why),
    storedInstant(state.laterAt),
    state.laterAt === never ? null : storedReason(state.laterWhy),
    state.readyAt,
    state.seq,
    state.priority,
    storedInstant(state.askedAt),
    ...notHeld,
    ...nothingNext,
  ]
}

function heldColumns({ state, holder, claim }: StoredKey): SqliteValue[] {
  return [
    state.claimedDueAt,
    storedReason(state.claimedWhy),
    storedInstant(state.claimedLaterAt),
    null,
    state.claimedReadyAt,
    state.claimedSeq,
    state.claimedPriority,
    storedInstant(state.claimedAskedAt),
    state.token,
    storedInstant(state.leaseUntil),
    holder,
    claim,
    ...(state.dueAt === never ? nothingNext : nextColumns(state)),
  ]
}

function nextColumns(state: KeyState): SqliteValue[] {
  return [
    state.dueAt,
    storedReason(state.why),
    state.seq,
    state.priority,
    storedInstant(state.askedAt),
    storedInstant(state.laterAt),
    state.laterAt === never ? null : storedReason(state.laterWhy),
  ]
}

/** Everything that is stored of one key, to read it only. */
export function readKey(
  statements: Statements,
  queueId: number,
  key: string,
): StoredKey | undefined {
  const row = statements.keysFindOne.get(queueId, key) as KeyColumns | undefined
  return row === undefined ? undefined : storedKey(row)
}

/** Everything that is stored of several keys, to read it only. */
export function readKeys(
  statements: Statements,
  queueId: number,
  keys: readonly string[],
): Map<string, StoredKey> {
  const rows = statements.keysFind.all(JSON.stringify(keys), queueId) as KeyColumns[]
  return new Map(rows.map((row) => [row.key, storedKey(row)]))
}

/** Whether two states are the same, member by member. */
export function isSame(a: KeyState, b: KeyState): boolean {
  return (
    a.dueAt === b.dueAt &&
    a.why === b.why &&
    a.laterAt === b.laterAt &&
    a.laterWhy === b.laterWhy &&
    a.readyAt === b.readyAt &&
    a.seq === b.seq &&
    a.priority === b.priority &&
    a.askedAt === b.askedAt &&
    a.trace === b.trace &&
    a.token === b.token &&
    a.leaseUntil === b.leaseUntil &&
    a.claimedDueAt === b.claimedDueAt &&
    a.claimedWhy === b.claimedWhy &&
    a.claimedLaterAt === b.claimedLaterAt &&
    a.claimedReadyAt === b.claimedReadyAt &&
    a.claimedSeq === b.claimedSeq &&
    a.claimedPriority === b.claimedPriority &&
    a.claimedAskedAt === b.claimedAskedAt &&
    a.claimedTrace === b.claimedTrace &&
    a.failures === b.failures &&
    a.crashes === b.crashes &&
    a.failedAt === b.failedAt &&
    a.parked === b.parked
  )
}
