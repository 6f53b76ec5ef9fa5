import { expect, test } from 'vitest'
import { emptyKeyState, noToken, transitions } from '../src/index.ts'

test('the token of a key that nobody holds opens nothing', () => {
  const state = emptyKeyState()
  transitions.add(state, 0, 'client-go', 1_000, 1)
  const before = { ...state }
  expect(transitions.done(state, noToken, true, 1_000, 2)).toBe('lost')
  expect(transitions.retry(state, noToken, 5, 'client-go', 1_000, 2)).toBe('lost')
  expect(transitions.release(state, noToken, 'client-go', 1_000, 2)).toBe('lost')
  expect(transitions.parkHeld(state, noToken, true, 'client-go', 1_000, 2)).toBe('lost')
  expect(transitions.renew(state, noToken, 9_000)).toBe('lost')
  expect(transitions.expire(state, noToken, 5, 3, 'client-go', Infinity, 2)).toBe('lost')
  expect(state).toEqual(before)
})
