import type { Dedupe, ExpireOutcome, FinishOutcome, RenewOutcome } from '../driver/outcomes.ts'
import { failuresMax } from '../limits.ts'
import type { EpochMs } from '../time/clock.ts'
import { add, addAfter } from './add.ts'
import { type KeyState, never as neverImported, noToken as noTokenImported } from './key-state.ts'
import { collapse, countFailure, forget, setDue } from './pending.ts'

// The engine folds a constant of this very module into the code and looks an imported one up each
// time: 185 against 222 ns for an add, claim and done in memory.
const never = neverImported
const noToken = noTokenImported

/** claim: takes the run that is owed. The caller has checked {@link isClaimable}. */
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
  state.token = token
  state.leaseUntil = leaseUntil
  const laterAt = state.laterAt
  if (laterAt === never) {
    state.claimedLaterAt = never
    state.dueAt = never
    return
  }
  state.laterAt = never
  if (laterAt <= now) {
    // Both promises were due: this claim answers both.
    state.claimedLaterAt = never
    state.dueAt = never
    return
  }
  state.claimedLaterAt = laterAt
  setDue(state, laterAt, state.laterWhy, seq)
  state.askedAt = state.claimedAskedAt
}

/** Whether the token is the key's. That of a key which nobody holds opens nothing either. */
function isHeldBy(state: KeyState, token: number): boolean {
  return state.token === token && token !== noToken
}

/** Stops holding the key and says where that leaves it. */
function free(state: KeyState, now: EpochMs, seq: number): FinishOutcome {
  state.token = noToken
  state.leaseUntil = never
  if (state.dueAt <= now) {
    state.readyAt = now
    state.seq = seq
  }
  return resting(state, now)
}

function resting(state: KeyState, now: EpochMs): FinishOutcome {
  if (state.parked) return 'parked'
  if (state.dueAt === never) return 'idle'
  return state.dueAt <= now ? 'ready' : 'delayed'
}

/** done: the run has ended, so its crashes are set to 0. With `forget` its failures are forgotten too. */
export function done(
  state: KeyState,
  token: number,
  forgets: boolean,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  if (forgets) forget(state)
  state.crashes = 0
  if (state.laterAt !== never) collapse(state, now)
  return free(state, now, seq)
}

/** The claimed run comes back: its priority and its age merge into what is owed. */
function bringBackPriority(state: KeyState): void {
  if (state.claimedPriority > state.priority) state.priority = state.claimedPriority
}

/** retry: the run failed; the key is asked for again `delayMs` from now, then given back. */
export function retry(
  state: KeyState,
  token: number,
  delayMs: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  countFailure(state, now)
  state.crashes = 0
  if (delayMs > 0) {
    addAfter(state, now + delayMs, 'backoff', state.claimedPriority, dedupe, now, seq)
  } else {
    add(state, state.claimedPriority, dedupe, now, seq)
  }
  return free(state, now, seq)
}

/** Puts the claimed run back where it was taken from; a run asked for meanwhile collapses into it. */
function putBack(state: KeyState, dedupe: Dedupe, now: EpochMs, seq: number): void {
  collapse(state, now)
  const { dueAt, why, priority } = state
  const priorityRose = dueAt !== never && priority > state.claimedPriority
  if (dueAt === never || dueAt <= now) {
    // What was due meanwhile is the same run; a later promise, if there is one, stays.
  } else if (dedupe === 'client-go') {
    state.laterAt = dueAt
    state.laterWhy = why
  } else {
    // One promise, at the earlier time, except for what a claim took from an earlier 'client-go' add.
    state.laterAt = state.claimedLaterAt
    state.laterWhy = why
  }
  state.dueAt = state.claimedDueAt
  state.why = state.claimedWhy
  state.askedAt = state.claimedAskedAt
  state.readyAt = priorityRose ? now : state.claimedReadyAt
  state.seq = priorityRose ? seq : state.claimedSeq
  if (!priorityRose) state.priority = state.claimedPriority
}

/** release: the run did not take place: it is put back in its old place, and crashes still count. */
export function release(
  state: KeyState,
  token: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  putBack(state, dedupe, now, seq)
  state.token = noToken
  state.leaseUntil = never
  return resting(state, now)
}

/** park, by the holder: the run is put back, and the key is set aside. */
export function parkHeld(
  state: KeyState,
  token: number,
  hasFailed: boolean,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  if (hasFailed) countFailure(state, now)
  state.crashes = 0
  state.parked = true
  return release(state, token, dedupe, now, seq)
}

/** renew: the lease lasts at least until `leaseUntil`. */
export function renew(state: KeyState, token: number, leaseUntil: EpochMs): RenewOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  // A lease without an end is already longer than any.
  if (leaseUntil > state.leaseUntil) state.leaseUntil = leaseUntil
  return 'renewed'
}

/**
 * The end of a lease: counts a failure and a crash, and asks for the lost run `delayMs` after the
 * lease was over. The key is parked once it has crashed `maxCrashes` times.
 */
export function expire(
  state: KeyState,
  token: number,
  delayMs: number,
  maxCrashes: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): ExpireOutcome {
  if (!isHeldBy(state, token) || state.leaseUntil > now) return 'lost'
  collapse(state, now)
  countFailure(state, now)
  if (state.crashes < failuresMax) state.crashes += 1
  const lostAt = state.leaseUntil + delayMs
  if (state.dueAt === never) {
    setDue(state, lostAt, 'backoff', seq)
    state.priority = state.claimedPriority
    state.askedAt = state.claimedAskedAt
  } else {
    bringBackPriority(state)
    if (state.dueAt > now) {
      const { dueAt, why } = state
      if (dedupe === 'client-go') {
        state.laterAt = Math.max(dueAt, lostAt)
        state.laterWhy = lostAt > dueAt ? 'backoff' : why
      }
      if (lostAt < dueAt) setDue(state, lostAt, 'backoff', seq)
    }
  }
  if (state.crashes >= maxCrashes) state.parked = true
  return free(state, now, seq) === 'parked' ? 'parked' : 'expired'
}
