import type { DueReason, ImportOutcome } from '../driver/outcomes.ts'
import { type TransferRow, transferMembers } from '../driver/transfer-row.ts'
import type { EpochMs } from '../time/clock.ts'
import { type KeyState, never, noToken } from './key-state.ts'
import { isGone } from './pending.ts'

/** A run that is owed, and why then. */
interface Due {
  readonly at: EpochMs
  readonly why: DueReason
}

function promisesOf(row: Pick<KeyState, 'dueAt' | 'why' | 'laterAt' | 'laterWhy'>): Due[] {
  const { dueAt, why, laterAt, laterWhy } = row
  if (dueAt === never) return []
  return laterAt === never
    ? [{ at: dueAt, why }]
    : [
        { at: dueAt, why },
        { at: laterAt, why: laterWhy },
      ]
}

/** The later of two instants, of which either may be none. */
function lastOf(a: EpochMs, b: EpochMs): EpochMs {
  if (a === never) return b
  return b === never ? a : Math.max(a, b)
}

/** Owes what either owes: the two earliest promises, in the better place and priority. */
function mergeOwed(state: KeyState, row: TransferRow, now: EpochMs): void {
  if (row.dueAt === never) return
  const wasOwed = state.dueAt !== never
  const promises = [...promisesOf(state), ...promisesOf(row)].sort((a, b) => a.at - b.at)
  const first = promises[0]!
  const second = promises.find(({ at }) => at > first.at && at > now)
  if (!wasOwed || row.readyAt < state.readyAt) {
    state.readyAt = row.readyAt
    state.seq = row.seq
  }
  state.dueAt = first.at
  state.why = first.why
  state.laterAt = second?.at ?? never
  state.laterWhy = second?.why ?? state.laterWhy
  state.priority = wasOwed ? Math.max(state.priority, row.priority) : row.priority
  state.askedAt = wasOwed ? Math.min(state.askedAt, row.askedAt) : row.askedAt
  // A held key's next run stands nowhere in line yet.
  if (state.token !== noToken) state.readyAt = state.dueAt
}

/**
 * importRows: merges a row from another store into what is stored of its key, so that nothing that
 * either says is lost. Merging it again changes nothing.
 */
export function mergeRow(state: KeyState, row: TransferRow, now: EpochMs): ImportOutcome {
  const isNew = isGone(state)
  const before: KeyState = { ...state }
  mergeOwed(state, row, now)
  state.failures = Math.max(state.failures, row.failures)
  state.crashes = Math.max(state.crashes, row.crashes)
  state.failedAt = lastOf(state.failedAt, row.failedAt)
  state.parked = state.parked || row.parked
  if (isNew) return isGone(state) ? 'unchanged' : 'imported'
  return transferMembers.some((member) => before[member] !== state[member]) ? 'merged' : 'unchanged'
}
