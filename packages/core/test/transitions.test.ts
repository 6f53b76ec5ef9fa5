import { expect, test } from 'vitest'
import {
  type Dedupe,
  emptyKeyState,
  type Finish,
  type FinishOutcome,
  type KeyState,
  noToken,
  transitions,
} from '../src/driver/index.ts'

test('the token of a key that is not held finishes nothing', () => {
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

function heldKey(): KeyState {
  const state = emptyKeyState()
  transitions.add(state, 3, 'client-go', 1_000, 1)
  transitions.claim(state, 7, 9_000, 1_000, 2)
  transitions.addAfter(state, 5_000, 'delay', 4, 'client-go', 1_000, 3)
  state.failures = 2
  state.crashes = 1
  return state
}

const ways: readonly [Finish, number, (state: KeyState, dedupe: Dedupe) => FinishOutcome][] = [
  [
    { as: 'done', key: 'a', token: 7, forget: true },
    0,
    (state) => transitions.done(state, 7, true, 2_000, 9),
  ],
  [
    { as: 'done', key: 'a', token: 7, forget: false },
    0,
    (state) => transitions.done(state, 7, false, 2_000, 9),
  ],
  [
    { as: 'release', key: 'a', token: 7 },
    0,
    (state, dedupe) => transitions.release(state, 7, dedupe, 2_000, 9),
  ],
  [
    { as: 'park', key: 'a', token: 7 },
    0,
    (state, dedupe) => transitions.parkHeld(state, 7, false, dedupe, 2_000, 9),
  ],
  [
    { as: 'park', key: 'a', token: 7, error: 'no' },
    0,
    (state, dedupe) => transitions.parkHeld(state, 7, true, dedupe, 2_000, 9),
  ],
  [
    { as: 'done', key: 'a', token: 7, forget: true, again: { delayMs: 60, priority: 8 } },
    0,
    (state, dedupe) =>
      transitions.doneAgain(state, 7, true, { delayMs: 60, priority: 8 }, dedupe, 2_000, 9),
  ],
  [
    { as: 'retry', key: 'a', token: 7, delayMs: 99, priority: 8 },
    50,
    (state, dedupe) => transitions.retry(state, 7, 50, dedupe, 2_000, 9, 8),
  ],
  [
    { as: 'retry', key: 'a', token: 7, delayMs: 99 },
    50,
    (state, dedupe) => transitions.retry(state, 7, 50, dedupe, 2_000, 9),
  ],
]

test.each(ways)('finish %j does what the transition of its name does', (finish, delayMs, verb) => {
  for (const dedupe of ['client-go', 'earliest'] as const) {
    const state = heldKey()
    const expected = heldKey()
    const outcome = transitions.finish(state, finish, delayMs, { dedupe }, 2_000, 9)
    expect(outcome).toBe(verb(expected, dedupe))
    expect(state).toEqual(expected)
    const lost = transitions.finish(heldKey(), { ...finish, token: 8 }, 0, { dedupe }, 2_000, 9)
    expect(lost).toBe('lost')
  }
})
