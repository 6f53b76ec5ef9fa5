// What the transition table does not show: order, priorities, counts, leases and parked keys.
import { expect, test } from 'vitest'
import { emptyKeyState, type KeyState, never, noToken, transitions } from '../src/driver/index.ts'
import { claimed, fresh, key, now, token, written } from './key-states.ts'

test('claim takes nothing that is held, parked, or not due', () => {
  const parked = key('-5/-')
  parked.parked = true
  for (const state of [key('-/-'), key('+5/-'), key('*-5/-'), parked]) {
    expect(transitions.isClaimable(state, now)).toBe(false)
  }
})

test('release under earliest puts a second promise back that a claim had moved up', () => {
  const state = key('*+5/-')
  state.claimedLaterAt = now + 5
  transitions.release(state, token, 'earliest', now, fresh)
  expect(written(state)).toBe('-50/+5')
})

test('release under earliest keeps a second promise that was put off while the key was held', () => {
  const state = key('*+5/-')
  state.claimedLaterAt = now + 3
  transitions.release(state, token, 'earliest', now, fresh)
  expect(written(state)).toBe('-50/+5')
})

test.each([false, true])(
  'an earlier claim leaves nothing for a release (second run: %s)',
  (isSecond) => {
    const state = key('-5/+5')
    transitions.claim(state, token, never, now, fresh)
    transitions.done(state, token, false, now, fresh)
    if (isSecond) transitions.addAfter(state, now + 6, 'backoff', 0, 'client-go', now + 5, fresh)
    transitions.claim(state, token, never, now + 6, fresh)
    transitions.addAfter(state, now + 9, 'backoff', 0, 'earliest', now + 6, fresh)
    transitions.release(state, token, 'earliest', now + 6, fresh)
    expect(written(state)).toBe('+5/-')
    expect(state.why).toBe('delay')
  },
)

test('release restores the position, and a higher priority that was added meanwhile goes last', () => {
  const plain = key('*-5/-')
  transitions.release(plain, token, 'client-go', now, fresh)
  expect(plain).toMatchObject({ ...claimed, token: noToken })
  const raised = key('*-5/-')
  raised.priority = 9
  transitions.release(raised, token, 'client-go', now, fresh)
  expect(raised).toMatchObject({ priority: 9, readyAt: now, seq: fresh, askedAt: claimed.askedAt })
  const cancelled = key('*-5/-')
  cancelled.priority = 9
  transitions.cancel(cancelled)
  transitions.release(cancelled, token, 'client-go', now, fresh)
  expect(cancelled).toMatchObject(claimed)
})

test('done moves a run that was added meanwhile to the end, with its own priority', () => {
  const state = key('*-5/-')
  state.priority = 1
  transitions.done(state, token, false, now, fresh)
  expect(state).toMatchObject({ readyAt: now, seq: fresh, priority: 1 })
})

test('done keeps the position of a run that is due later', () => {
  const state = key('*+5/-')
  transitions.done(state, token, false, now, fresh)
  expect(state).toMatchObject({ readyAt: now + 5, seq: 10 })
})

test('retry and lease end bring the claimed priority back', () => {
  const retried = key('*-5/-')
  transitions.retry(retried, token, 5, 'client-go', now, fresh)
  expect(retried.priority).toBe(claimed.priority)
  const expired = key('*-/-')
  transitions.expire(expired, token, 6, 5, 'client-go', now, fresh)
  expect(expired).toMatchObject({ priority: claimed.priority, askedAt: claimed.askedAt })
})

test('a raised priority goes to the tail of the new one, and a lower one changes nothing', () => {
  const state = key('-5/-')
  expect(transitions.add(state, -3, 'client-go', now, fresh)).toBe('unchanged')
  expect(state).toMatchObject({ priority: 0, seq: 10, readyAt: now - 5 })
  expect(transitions.add(state, 4, 'client-go', now, fresh)).toBe('moved')
  expect(state).toMatchObject({ priority: 4, seq: fresh, readyAt: now, dueAt: now - 5 })
})

test('a held key that is added again has the priority of those adds only', () => {
  const state = key('*-/-')
  state.priority = claimed.priority
  transitions.add(state, 1, 'client-go', now, fresh)
  expect(state.priority).toBe(1)
  transitions.add(state, 2, 'client-go', now, fresh + 1)
  expect(state.priority).toBe(2)
})

test('failures and crashes are counted apart, and forgotten together', () => {
  const state = key('*-/-')
  transitions.expire(state, token, 6, 5, 'client-go', now, fresh)
  expect(state).toMatchObject({ failures: 1, crashes: 1, failedAt: now })
  const retried = key('*-/-')
  transitions.retry(retried, token, 5, 'client-go', now, fresh)
  expect(retried).toMatchObject({ failures: 1, crashes: 0 })
  expect(transitions.forget(state)).toBe('forgotten')
  expect(state).toMatchObject({ failures: 0, crashes: 0, failedAt: never })
  expect(transitions.forget(state)).toBe('unchanged')
})

test('done forgets failures only if it says so', () => {
  const kept = key('*-/-')
  kept.failures = 3
  transitions.done(kept, token, false, now, fresh)
  expect(kept.failures).toBe(3)
  const forgotten = key('*-/-')
  forgotten.failures = 3
  transitions.done(forgotten, token, true, now, fresh)
  expect(forgotten.failures).toBe(0)
})

test('a run that has ended leaves no crashes; one that was released has not taken place', () => {
  const crashed = (): KeyState => {
    const state = key('*-/-')
    state.failures = 3
    state.crashes = 3
    return state
  }
  const after = (finish: (state: KeyState) => unknown): number => {
    const state = crashed()
    expect(finish(state)).not.toBe('lost')
    return state.crashes
  }
  expect(after((state) => transitions.done(state, token, false, now, 99))).toBe(0)
  expect(after((state) => transitions.retry(state, token, 5, 'client-go', now, 99))).toBe(0)
  expect(after((state) => transitions.parkHeld(state, token, true, 'earliest', now, 99))).toBe(0)
  expect(after((state) => transitions.parkHeld(state, token, false, 'earliest', now, 99))).toBe(0)
  expect(after((state) => transitions.release(state, token, 'client-go', now, 99))).toBe(3)
  const stale = crashed()
  expect(transitions.done(stale, token + 1, false, now, 99)).toBe('lost')
  expect(stale.crashes).toBe(3)
})

test('a key of which only crashes were counted is gone when its run is done', () => {
  const state = key('*-/-')
  state.crashes = 1
  expect(transitions.done(state, token, false, now, 99)).toBe('idle')
  expect(transitions.isGone(state)).toBe(true)
})

test('the last allowed crash parks the key', () => {
  const state = key('*-/-')
  state.crashes = 4
  expect(transitions.expire(state, token, 6, 5, 'client-go', now, fresh)).toBe('parked')
  expect(transitions.stateWord(state, now + 60)).toBe('parked')
  expect(state.dueAt).toBe(now + 5)
})

test('renew never shortens a lease', () => {
  const state = key('*-/-')
  expect(transitions.renew(state, token, now + 30)).toBe('renewed')
  expect(transitions.renew(state, token, now + 10)).toBe('renewed')
  expect(state.leaseUntil).toBe(now + 30)
  expect(transitions.renew(state, token + 1, now + 99)).toBe('lost')
})

test('a lease end is refused while the lease lasts, and under another token', () => {
  const state = key('*-/-')
  state.leaseUntil = now + 1
  expect(transitions.expire(state, token, 6, 5, 'client-go', now, fresh)).toBe('lost')
  state.leaseUntil = now
  expect(transitions.expire(state, token + 1, 6, 5, 'client-go', now, fresh)).toBe('lost')
  expect(transitions.expire(state, token, 6, 5, 'client-go', now, fresh)).toBe('expired')
})

test('a parked key merges its adds, and runs once it is unparked', () => {
  const state = key('-/-')
  state.failures = 2
  expect(transitions.park(state)).toBe('changed')
  expect(transitions.add(state, 0, 'client-go', now, fresh)).toBe('parked')
  expect(transitions.isClaimable(state, now)).toBe(false)
  expect(transitions.unpark(state, true, now + 5, fresh + 1)).toBe('changed')
  expect(state).toMatchObject({ readyAt: now + 5, seq: fresh + 1, failures: 0 })
  expect(transitions.isClaimable(state, now + 5)).toBe(true)
})

test('park on a held key takes effect when it is given back', () => {
  const state = key('*-/-')
  transitions.park(state)
  expect(transitions.stateWord(state, now)).toBe('processing')
  expect(transitions.done(state, token, false, now, fresh)).toBe('parked')
})

test('park by the holder puts the run back, and counts a failure only if there was one', () => {
  const failed = key('*-/-')
  expect(transitions.parkHeld(failed, token, true, 'client-go', now, fresh)).toBe('parked')
  expect(failed).toMatchObject({ dueAt: claimed.dueAt, failures: 1, parked: true })
  const decided = key('*-/-')
  transitions.parkHeld(decided, token, false, 'client-go', now, fresh)
  expect(decided.failures).toBe(0)
})

test('cancel and remove delete the pending runs, and never change the held half', () => {
  for (const verb of [transitions.cancel, transitions.remove]) {
    const state = key('*-5/+5')
    verb(state)
    expect(written(state)).toBe('*-/-')
    expect(state).toMatchObject({ token, claimedDueAt: claimed.dueAt })
  }
})

test('runNow replaces the delay', () => {
  const state = key('+5/-')
  expect(transitions.runNow(state, now, fresh)).toBe('changed')
  expect(written(state)).toBe('now/-')
  expect(transitions.runNow(state, now, fresh)).toBe('unchanged')
  expect(transitions.runNow(emptyKeyState(), now, fresh)).toBe('missing')
})
