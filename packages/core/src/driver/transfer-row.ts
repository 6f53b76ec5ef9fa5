import { release } from '../transitions/finish.ts'
import { type KeyState, never, noToken } from '../transitions/key-state.ts'
import type { KeyRow } from './inspection.ts'

/** The members of a {@link KeyState} that move from store to store: all but the held half. */
export type TransferMember =
  | 'dueAt'
  | 'why'
  | 'laterAt'
  | 'laterWhy'
  | 'readyAt'
  | 'seq'
  | 'priority'
  | 'askedAt'
  | 'failures'
  | 'crashes'
  | 'failedAt'
  | 'parked'
  | 'trace'

/** Every {@link TransferMember}. */
export const transferMembers: readonly TransferMember[] = [
  'dueAt',
  'why',
  'laterAt',
  'laterWhy',
  'readyAt',
  'seq',
  'priority',
  'askedAt',
  'failures',
  'crashes',
  'failedAt',
  'parked',
  'trace',
]

/** One key as it moves from store to store, not held. */
export interface TransferRow extends Readonly<Pick<KeyState, TransferMember>> {
  readonly key: string
  readonly item: string | undefined
  readonly lastError: string | undefined
}

/** A listed key as it moves. A claimed run is put back, as a release would. */
export function transferRow(row: KeyRow): TransferRow {
  const { key, item, lastError, state: _, holder: __, ...state } = row
  const free: KeyState = { ...state }
  if (free.token !== noToken) {
    // The position that the claim had; a key that becomes due at the same time comes after it.
    release(free, free.token, 'client-go', free.claimedReadyAt, free.claimedSeq)
  }
  const { dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt } = free
  const { failures, crashes, failedAt, parked, trace } = free
  return {
    key,
    dueAt,
    why,
    laterAt,
    laterWhy,
    readyAt,
    seq,
    priority,
    askedAt,
    failures,
    crashes,
    failedAt,
    parked,
    trace,
    item,
    lastError,
  }
}

/**
 * Whether a stored key is still exactly as it was listed: not held, and every member the same.
 * Members that mean nothing without a pending run are not compared.
 */
export function isUnchanged(
  state: Readonly<KeyState>,
  item: string | undefined,
  row: TransferRow,
): boolean {
  if (state.token !== noToken || item !== row.item) return false
  const isPending = row.dueAt !== never
  return transferMembers.every((member) => {
    if (!isPending && !idleMembers.has(member)) return true
    if (member === 'laterWhy' && row.laterAt === never) return true
    return state[member] === row[member]
  })
}

const idleMembers: ReadonlySet<keyof KeyState> = new Set<keyof KeyState>([
  'dueAt',
  'failures',
  'crashes',
  'failedAt',
  'parked',
])
