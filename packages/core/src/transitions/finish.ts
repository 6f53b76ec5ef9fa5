import type { AskOptions } from '../driver/ask.ts'
import type { Again, Finish } from '../driver/claim.ts'
import type { Dedupe, FinishOutcome } from '../driver/outcomes.ts'
import type { EpochMs } from '../time/clock.ts'
import { add, addAfter } from './add.ts'
import { type KeyState, never as neverImported, noToken as noTokenImported } from './key-state.ts'
import { collapse, countFailure, forget } from './pending.ts'
import { mergeTraces } from './trace.ts'

// The engine folds a constant of this very module into the code and looks an imported one up each
// time: 185 against 222 ns for an add, claim and done in memory.
const never = neverImported
const noToken = noTokenImported

/** Whether the token is the current one of a held key. */
export function isHeldBy(state: KeyState, token: number): boolean {
  return state.token === token && token !== noToken
}

/** Releases the key and returns the state that it is then in. */
export function free(state: KeyState, now: EpochMs, seq: number): FinishOutcome {
  state.token = noToken
  state.leaseUntil = never
  state.claimedTrace = undefined
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

/** done: the run has ended, so crashes are set to zero; with `forgets`, failures too. */
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

/** done, and the key is added again for `again.delayMs` from now, then released. */
export function doneAgain(
  state: KeyState,
  token: number,
  forgets: boolean,
  { delayMs, priority }: Again,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  if (forgets) forget(state)
  state.crashes = 0
  if (delayMs > 0) addAfter(state, now + delayMs, 'delay', priority, dedupe, now, seq)
  else add(state, priority, dedupe, now, seq)
  return free(state, now, seq)
}

/**
 * retry: the run failed; the key is added again for `delayMs` from now, at the priority of the run
 * unless another one is given, then released.
 */
export function retry(
  state: KeyState,
  token: number,
  delayMs: number,
  dedupe: Dedupe,
  now: EpochMs,
  seq: number,
  priority: number = state.claimedPriority,
): FinishOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  countFailure(state, now)
  state.crashes = 0
  state.trace = mergeTraces(state.claimedTrace, state.trace)
  if (delayMs > 0) addAfter(state, now + delayMs, 'backoff', priority, dedupe, now, seq)
  else add(state, priority, dedupe, now, seq)
  return free(state, now, seq)
}

/**
 * Puts the claimed run back into its old position; a run that was added meanwhile merges into it.
 */
function putBack(state: KeyState, dedupe: Dedupe, now: EpochMs, seq: number): void {
  collapse(state, now)
  const { dueAt, why, priority } = state
  const priorityRose = dueAt !== never && priority > state.claimedPriority
  // A run that is due by now is the same run. Under 'earliest' a later one is, too, unless the claim
  // had moved up a second run ('client-go'): it stays as it is now, since it may have been moved or
  // cancelled meanwhile.
  if (dueAt > now) {
    const isSecond = dedupe === 'client-go' || state.claimedLaterAt !== never
    state.laterAt = isSecond ? dueAt : never
    state.laterWhy = why
  }
  state.dueAt = state.claimedDueAt
  state.why = state.claimedWhy
  state.askedAt = state.claimedAskedAt
  state.trace = mergeTraces(state.claimedTrace, state.trace)
  state.readyAt = priorityRose ? now : state.claimedReadyAt
  state.seq = priorityRose ? seq : state.claimedSeq
  if (!priorityRose) state.priority = state.claimedPriority
}

/** release: the run did not take place; it returns to its old position, and crashes still count. */
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
  state.claimedTrace = undefined
  return resting(state, now)
}

/** park, by the holder: the run is put back, and the key is parked. */
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

/**
 * One {@link Finish} of a batch, whole. `delayMs` is the delay of a retry: that of its plan if it
 * has one. The caller stores {@link errorOf} the finish unless the outcome is `lost`.
 */
export function finish(
  state: KeyState,
  request: Finish,
  delayMs: number,
  { dedupe }: Pick<AskOptions, 'dedupe'>,
  now: EpochMs,
  seq: number,
): FinishOutcome {
  const { token } = request
  switch (request.as) {
    case 'done':
      return request.again === undefined
        ? done(state, token, request.forget, now, seq)
        : doneAgain(state, token, request.forget, request.again, dedupe, now, seq)
    case 'retry':
      return retry(state, token, delayMs, dedupe, now, seq, request.priority)
    case 'release':
      return release(state, token, dedupe, now, seq)
    case 'park':
      return parkHeld(state, token, request.error !== undefined, dedupe, now, seq)
  }
}

/** The error that a finish stores as the key's last one; `undefined` leaves the stored one. */
export function errorOf(request: Finish): string | undefined {
  return request.as === 'retry' || request.as === 'park' ? request.error : undefined
}
