import type { DueReason, ImportOutcome } from '../driver/outcomes.ts'
import { type TransferRow, transferMembers } from '../driver/transfer-row.ts'
import type { EpochMs } from '../time/clock.ts'
import { type KeyState, never, noToken } from './key-state.ts'
import { isGone } from './pending.ts'
import { mergeTraces } from './trace.ts'

/** A pending run, and why it is due then; `never` = none. */
interface PendingRun {
  readonly at: EpochMs
  readonly why: DueReason
}

function pendingRunsOf(
  row: Pick<KeyState, 'dueAt' | 'why' | 'laterAt' | 'laterWhy'>,
): PendingRun[] {
  return [
    { at: row.dueAt, why: row.why },
    { at: row.laterAt, why: row.laterWhy },
  ]
}

/** The later of two instants, of which either may be none. */
function lastOf(a: EpochMs, b: EpochMs): EpochMs {
  if (a === never) return b
  return b === never ? a : Math.max(a, b)
}

/**
 * The contexts of the first and the last add of both. Which adds came first is known by `askedAt`;
 * after a merge it is the same in both, and merging again changes nothing.
 */
function mergedTrace(state: KeyState, row: TransferRow): string | undefined {
  if (row.askedAt < state.askedAt) return mergeTraces(row.trace, state.trace)
  if (row.askedAt > state.askedAt) return mergeTraces(state.trace, row.trace)
  return state.trace ?? row.trace
}

/** Keeps the two earliest of all pending runs, at the better position and priority. */
function mergePending(state: KeyState, row: TransferRow, now: EpochMs): void {
  if (row.dueAt === never) return
  const wasPending = state.dueAt !== never
  const runs = [...pendingRunsOf(state), ...pendingRunsOf(row)].sort((a, b) => a.at - b.at)
  const first = runs[0]!
  const second = runs.find(({ at }) => at > first.at && at > now)
  // A key is never ready later than it is due or than now, but the clock of the other store may be ahead.
  const readyAt = Math.min(row.readyAt, Math.max(row.dueAt, now))
  if (!wasPending || readyAt < state.readyAt) {
    state.readyAt = readyAt
    state.seq = row.seq
  }
  state.trace = mergedTrace(state, row)
  state.dueAt = first.at
  state.why = first.why
  state.laterAt = second?.at ?? never
  state.laterWhy = second?.why ?? state.laterWhy
  state.priority = wasPending ? Math.max(state.priority, row.priority) : row.priority
  state.askedAt = wasPending ? Math.min(state.askedAt, row.askedAt) : row.askedAt
  // The next run of a held key has no position in the order yet.
  if (state.token !== noToken) state.readyAt = state.dueAt
}

/**
 * importRows: merges a row from another store into the stored key, so that no pending run and no
 * count of either is lost. Merging it again changes nothing.
 */
export function mergeRow(state: KeyState, row: TransferRow, now: EpochMs): ImportOutcome {
  const isNew = isGone(state)
  const before: KeyState = { ...state }
  mergePending(state, row, now)
  state.failures = Math.max(state.failures, row.failures)
  state.crashes = Math.max(state.crashes, row.crashes)
  state.failedAt = lastOf(state.failedAt, row.failedAt)
  state.parked = state.parked || row.parked
  if (isNew) return isGone(state) ? 'unchanged' : 'imported'
  return transferMembers.some((member) => before[member] !== state[member]) ? 'merged' : 'unchanged'
}
