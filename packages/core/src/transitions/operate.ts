import type { OperateOutcome } from '../driver/outcomes.ts'
import type { EpochMs } from '../time/clock.ts'
import { type KeyState, never, noToken } from './key-state.ts'
import { cancel, forget, isGone, setDue } from './pending.ts'

/** park, by an operator. A held key is parked when it is given back. */
export function park(state: KeyState): OperateOutcome {
  if (isGone(state)) return 'missing'
  if (state.parked) return 'unchanged'
  state.parked = true
  return 'changed'
}

/**
 * unpark: the key can be claimed again, last in the order; with `forgets` its failures are set to
 * zero. Nothing of a key that is not parked changes, so that its back-off goes on growing.
 */
export function unpark(
  state: KeyState,
  forgets: boolean,
  now: EpochMs,
  seq: number,
): OperateOutcome {
  if (isGone(state)) return 'missing'
  if (!state.parked) return 'unchanged'
  state.parked = false
  if (forgets) forget(state)
  if (state.token === noToken && state.dueAt <= now) {
    state.readyAt = now
    state.seq = seq
  }
  return 'changed'
}

/** runNow: a delayed run is due now. */
export function runNow(state: KeyState, now: EpochMs, seq: number): OperateOutcome {
  if (isGone(state)) return 'missing'
  if (state.dueAt === never || state.dueAt <= now) return 'unchanged'
  setDue(state, now, 'add', seq)
  return 'changed'
}

/** remove: removes pending runs, counters and the parked mark. A held key stays held. */
export function remove(state: KeyState): OperateOutcome {
  if (isGone(state)) return 'missing'
  const hadPending = cancel(state) === 'cancelled'
  const hadFailures = forget(state) === 'forgotten'
  const wasParked = state.parked
  state.parked = false
  return hadPending || hadFailures || wasParked ? 'changed' : 'unchanged'
}
