import type { Dedupe, ExpireOutcome } from '../driver/outcomes.ts'
import { failuresMax } from '../limits.ts'
import type { EpochMs } from '../time/clock.ts'
import { free, isHeldBy } from './finish.ts'
import { type KeyState, never } from './key-state.ts'
import { collapse, countFailure, setDue } from './pending.ts'
import { mergeTraces } from './trace.ts'

/** Merges the priority of the claimed run into the pending one. */
function bringBackPriority(state: KeyState): void {
  if (state.claimedPriority > state.priority) state.priority = state.claimedPriority
}

/**
 * expire: the end of a lease counts a failure and a crash, and adds the lost run again for
 * `delayMs` after that end. The key is parked once it has crashed `maxCrashes` times.
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
  state.trace = mergeTraces(state.claimedTrace, state.trace)
  const lostAt = state.leaseUntil + delayMs
  if (state.dueAt === never) {
    setDue(state, lostAt, 'backoff', seq)
    state.priority = state.claimedPriority
    state.askedAt = state.claimedAskedAt
  } else {
    bringBackPriority(state)
    if (state.dueAt > now) {
      const { dueAt, why } = state
      const laterAt = Math.max(dueAt, lostAt)
      // A held key has a second run if it was imported with one: it never moves later.
      if (dedupe === 'client-go' && laterAt < state.laterAt) {
        state.laterAt = laterAt
        state.laterWhy = lostAt > dueAt ? 'backoff' : why
      }
      if (lostAt < dueAt) setDue(state, lostAt, 'backoff', seq)
    }
  }
  if (state.crashes >= maxCrashes) state.parked = true
  return free(state, now, seq) === 'parked' ? 'parked' : 'expired'
}
