/**
 * The transition table of the contract as code: the one place where drivers that run JavaScript
 * decide what a verb does to a key, and what drivers that speak SQL are checked against.
 *
 *                  add, addAfter                claim
 *   idle ────────────▶ ready, delayed ─────────────────▶ processing ──┐
 *    ▲                     ▲                                  │       │ add, addAfter
 *    │                     │ retry, release, lease end        │       ▼
 *    │                     ├──────────────────────────────────┤     dirty
 *    │                     └────────────── done ──────────────│───────┘
 *    └──────────────────────────────────── done ──────────────┘
 *
 * Each function is one verb: it changes the state it is given and returns a named outcome. `now` is
 * the store's time, `seq` a number greater than every one drawn before it; a verb that does not
 * need it leaves it unused.
 */
import type { EpochMs } from './clock.ts'
import type { Ask, AskOptions } from './driver.ts'
import { type KeyState, never, noToken } from './key-state.ts'
import { failuresMax } from './limits.ts'
import type {
  AddOutcome,
  CancelOutcome,
  Dedupe,
  DueReason,
  ExpireOutcome,
  FinishOutcome,
  ForgetOutcome,
  KeyStateWord,
  OperateOutcome,
  RenewOutcome,
} from './outcomes.ts'

/** Two promises of which both are due are one waiting run. Comes first in every verb. */
function collapse(state: KeyState, now: EpochMs): void {
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

/** Whether nothing is worth storing of a key any more. */
export function isGone(state: KeyState): boolean {
  return (
    state.token === noToken &&
    state.dueAt === never &&
    state.failures === 0 &&
    state.crashes === 0 &&
    !state.parked
  )
}

/** Whether a claim may take the key. Whether its queue is paused is not the key's to know. */
export function isClaimable(state: KeyState, now: EpochMs): boolean {
  return state.token === noToken && state.dueAt <= now && !state.parked
}

/** Whether only an expired count of failures is left of the key, which reads as none. */
export function hasStaleFailures(state: KeyState, now: EpochMs, failuresExpireMs: number): boolean {
  return (
    state.token === noToken &&
    state.dueAt === never &&
    !state.parked &&
    state.failedAt + failuresExpireMs <= now
  )
}

/** Puts a run that was not owed, or moves one that was, to `dueAt`. */
function setDue(state: KeyState, dueAt: EpochMs, why: DueReason, seq: number): void {
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

/** Raises the priority of the owed run; true if it rose. */
function raisePriority(state: KeyState, priority: number, now: EpochMs, seq: number): boolean {
  if (priority <= state.priority) return false
  state.priority = priority
  state.seq = seq
  if (state.token === noToken && state.dueAt <= now) state.readyAt = now
  return true
}

/** Owes a run that was not owed. */
function owe(
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

/** add: the key is asked for now. */
export function add(
  state: KeyState,
  priority: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): AddOutcome {
  let outcome: AddOutcome
  if (state.dueAt === never) {
    owe(state, now, 'add', priority, now, seq)
    outcome = 'added'
  } else if (state.dueAt <= now) {
    if (state.laterAt <= now) state.laterAt = never
    outcome = raisePriority(state, priority, now, seq) ? 'moved' : 'unchanged'
  } else {
    outcome = 'moved'
    if (dedupe === 'client-go') {
      if (state.laterAt === never) outcome = 'added'
      state.laterAt = state.dueAt
      state.laterWhy = state.why
    }
    setDue(state, now, 'add', seq)
    if (priority > state.priority) state.priority = priority
  }
  return state.parked && state.token === noToken ? 'parked' : outcome
}

/** addAfter: the key is asked for at `dueAt`, which is after `now`. */
export function addAfter(
  state: KeyState,
  dueAt: EpochMs,
  why: DueReason,
  priority: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): AddOutcome {
  let outcome: AddOutcome = 'unchanged'
  if (state.dueAt === never) {
    owe(state, dueAt, why, priority, now, seq)
    outcome = 'added'
  } else {
    collapse(state, now)
    if (raisePriority(state, priority, now, seq)) outcome = 'moved'
    if (state.dueAt > now) {
      if (dueAt < state.dueAt) {
        setDue(state, dueAt, why, seq)
        outcome = 'moved'
      }
    } else if (dedupe === 'client-go' && dueAt < state.laterAt) {
      outcome = state.laterAt === never ? 'added' : 'moved'
      state.laterAt = dueAt
      state.laterWhy = why
    }
  }
  return state.parked && state.token === noToken ? 'parked' : outcome
}

/**
 * addAfter with `when: 'latest'`: moves a key that is only delayed further away, at the most
 * `maxWaitMs` after it was first asked for. In every other state it is a plain {@link addAfter}.
 */
export function addLatest(
  state: KeyState,
  dueAt: EpochMs,
  maxWaitMs: number,
  priority: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): AddOutcome {
  const isOnlyDelayed =
    state.dueAt !== never && state.dueAt > now && state.why === 'delay' && state.laterAt === never
  if (!isOnlyDelayed) return addAfter(state, dueAt, 'delay', priority, dedupe, now, seq)
  let outcome: AddOutcome = raisePriority(state, priority, now, seq) ? 'moved' : 'unchanged'
  const bounded = Math.min(dueAt, state.askedAt + maxWaitMs)
  if (bounded > state.dueAt) {
    setDue(state, bounded, 'delay', seq)
    outcome = 'moved'
  }
  return state.parked && state.token === noToken ? 'parked' : outcome
}

/** How many failures count, now: those of an idle key expire. */
export function countedFailures(state: KeyState, now: EpochMs, failuresExpireMs: number): number {
  return hasStaleFailures(state, now, failuresExpireMs) ? 0 : state.failures
}

/**
 * One {@link Ask} of a batch, whole: expired failures are forgotten, a failure is counted if the
 * ask says so, and the run is asked for `delayMs` from now.
 */
export function ask(
  state: KeyState,
  request: Ask,
  delayMs: number,
  options: AskOptions,
  now: EpochMs,
  seq: number,
): AddOutcome {
  if (state.failedAt !== never && hasStaleFailures(state, now, options.failuresExpireMs)) {
    forget(state)
  }
  if (request.failed === true) countFailure(state, now)
  const { priority } = request
  const { dedupe } = options
  if (!(delayMs > 0)) return add(state, priority, dedupe, now, seq)
  const dueAt = now + delayMs
  if (request.maxWaitMs !== undefined) {
    return addLatest(state, dueAt, request.maxWaitMs, priority, dedupe, now, seq)
  }
  const why = request.failed === true ? 'backoff' : 'delay'
  return addAfter(state, dueAt, why, priority, dedupe, now, seq)
}

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

/** done: the run is over. With `forget` its failures are forgotten too. */
export function done(
  state: KeyState,
  token: number,
  forgets: boolean,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  if (forgets) forget(state)
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

/** release: the run did not take place; it is put back in its old place. */
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

/** forget: failures and crashes are counted from zero again. */
export function forget(state: KeyState): ForgetOutcome {
  if (state.failures === 0 && state.crashes === 0) return 'unchanged'
  state.failures = 0
  state.crashes = 0
  state.failedAt = never
  return 'forgotten'
}

/** cancel: what is owed is taken back. Who holds the key goes on holding it. */
export function cancel(state: KeyState): CancelOutcome {
  if (state.dueAt === never) return 'unchanged'
  state.dueAt = never
  state.laterAt = never
  return 'cancelled'
}

/** park, by an operator. On a held key it takes effect when the key is given back. */
export function park(state: KeyState): OperateOutcome {
  if (isGone(state)) return 'missing'
  if (state.parked) return 'unchanged'
  state.parked = true
  return 'changed'
}

/** unpark: the key can be claimed again, at the tail; with `forgets` its failures are forgotten. */
export function unpark(
  state: KeyState,
  forgets: boolean,
  now: EpochMs,
  seq: number,
): OperateOutcome {
  if (isGone(state)) return 'missing'
  if (forgets) forget(state)
  if (!state.parked) return 'unchanged'
  state.parked = false
  if (state.token === noToken && state.dueAt <= now) {
    state.readyAt = now
    state.seq = seq
  }
  return 'changed'
}

/** runNow: what is owed later is due now, in place of the delay. */
export function runNow(state: KeyState, now: EpochMs, seq: number): OperateOutcome {
  if (isGone(state)) return 'missing'
  if (state.dueAt === never || state.dueAt <= now) return 'unchanged'
  setDue(state, now, 'add', seq)
  return 'changed'
}

/** remove: forgets all that is owed, counted and parked. Who holds the key goes on holding it. */
export function remove(state: KeyState): OperateOutcome {
  if (isGone(state)) return 'missing'
  const hadPending = cancel(state) === 'cancelled'
  const hadFailures = forget(state) === 'forgotten'
  const wasParked = state.parked
  state.parked = false
  return hadPending || hadFailures || wasParked ? 'changed' : 'unchanged'
}
