/**
 * Parts that the transitions share: reading a key, and changing its pending run and its counters.
 */

import type { CancelOutcome, DueReason, ForgetOutcome, KeyStateWord } from '../driver/outcomes.ts'
import { failuresMax } from '../limits.ts'
import type { EpochMs } from '../time/clock.ts'
import { type KeyState, never as neverImported, noToken as noTokenImported } from './key-state.ts'

// The engine folds a constant of this very module into the code and looks an imported one up each
// time: 185 against 222 ns for an add, claim and done in memory.
const never = neverImported
const noToken = noTokenImported

/** Two pending runs that are both due are one run. Comes first in every verb. */
export function collapse(state: KeyState, now: EpochMs): void {
  if (state.laterAt <= now && state.dueAt <= now) state.laterAt = never
}

/** The state of a key in the shared vocabulary. */
export function stateWord(state: KeyState, now: EpochMs): KeyStateWord {
  if (state.token !== noToken) return state.dueAt <= now ? 'dirty' : 'processing'
  if (state.parked) return 'parked'
  if (state.dueAt === never) return 'idle'
  if (state.dueAt <= now) return 'ready'
  return state.why === 'backoff' ? 'backoff' : 'delayed'
}

/** Whether nothing of a key remains to be stored. */
export function isGone(state: KeyState): boolean {
  return (
    state.token === noToken &&
    state.dueAt === never &&
    state.failures === 0 &&
    state.crashes === 0 &&
    !state.parked
  )
}

/** Whether a claim may take the key. A paused queue is the caller's to consider. */
export function isClaimable(state: KeyState, now: EpochMs): boolean {
  return state.token === noToken && state.dueAt <= now && !state.parked
}

/** Whether only an expired failure count is left of the key, which counts as none. */
export function hasStaleFailures(state: KeyState, now: EpochMs, failuresExpireMs: number): boolean {
  return (
    state.token === noToken &&
    state.dueAt === never &&
    !state.parked &&
    state.failedAt + failuresExpireMs <= now
  )
}

/** Makes the pending run, new or not, due at `dueAt`. */
export function setDue(state: KeyState, dueAt: EpochMs, why: DueReason, seq: number): void {
  state.dueAt = dueAt
  state.why = why
  state.readyAt = dueAt
  state.seq = seq
}

/** Counts a failed run. */
export function countFailure(state: KeyState, now: EpochMs): void {
  if (state.failures < failuresMax) state.failures += 1
  state.failedAt = now
}

/** Raises the priority of the pending run; true if it rose. */
export function raisePriority(
  state: KeyState,
  priority: number,
  now: EpochMs,
  seq: number,
): boolean {
  if (priority <= state.priority) return false
  state.priority = priority
  state.seq = seq
  if (state.token === noToken && state.dueAt <= now) state.readyAt = now
  return true
}

/** Adds a pending run to a key that has none. */
export function setPending(
  state: KeyState,
  dueAt: EpochMs,
  why: DueReason,
  priority: number,
  now: EpochMs,
  seq: number,
): void {
  setDue(state, dueAt, why, seq)
  state.priority = priority
  state.askedAt = now
}

/** forget: sets failures and crashes to zero. */
export function forget(state: KeyState): ForgetOutcome {
  if (state.failures === 0 && state.crashes === 0) return 'unchanged'
  state.failures = 0
  state.crashes = 0
  state.failedAt = never
  return 'forgotten'
}

/** cancel: removes the pending runs. A held key stays held. */
export function cancel(state: KeyState): CancelOutcome {
  if (state.dueAt === never) return 'unchanged'
  state.dueAt = never
  state.laterAt = never
  state.trace = undefined
  return 'cancelled'
}
