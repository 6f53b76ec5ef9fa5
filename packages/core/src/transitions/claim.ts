import type { EpochMs } from '../time/clock.ts'
import { type KeyState, never as neverImported } from './key-state.ts'
import { setDue } from './pending.ts'

// The engine folds a constant of this very module into the code and looks an imported one up each
// time: 185 against 222 ns for an add, claim and done in memory.
const never = neverImported

/** claim: takes the pending run. The caller has checked that the key is claimable. */
export function claim(
  state: KeyState,
  token: number,
  leaseUntil: EpochMs,
  now: EpochMs,
  seq: number,
): void {
  state.claimedDueAt = state.dueAt
  state.claimedWhy = state.why
  state.claimedReadyAt = state.readyAt
  state.claimedSeq = state.seq
  state.claimedPriority = state.priority
  state.claimedAskedAt = state.askedAt
  state.claimedTrace = state.trace
  state.trace = undefined
  state.token = token
  state.leaseUntil = leaseUntil
  const { laterAt } = state
  state.laterAt = never
  if (laterAt <= now || laterAt === never) {
    // If two pending runs were due, this claim takes both.
    state.claimedLaterAt = never
    state.dueAt = never
  } else {
    state.claimedLaterAt = laterAt
    setDue(state, laterAt, state.laterWhy, seq)
  }
}
