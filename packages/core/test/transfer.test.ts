import { describe, expect, test } from 'vitest'
import {
  emptyKeyState,
  isUnchanged,
  type KeyRow,
  type KeyState,
  never,
  type TransferRow,
  transferRow,
  transitions,
} from '../src/driver/index.ts'

const now = 1_000

function stateWith(more: Partial<KeyState> = {}): KeyState {
  return { ...emptyKeyState(), ...more }
}

/** A key with a run that is pending for an instant. */
function pending(at: number, more: Partial<KeyState> = {}): KeyState {
  return stateWith({ dueAt: at, readyAt: at, askedAt: at, seq: 1, ...more })
}

function listed(state: KeyState, more: Partial<KeyRow> = {}): KeyRow {
  const word = transitions.stateWord(state, now)
  return {
    key: 'k',
    ...state,
    state: word,
    item: undefined,
    holder: undefined,
    lastError: undefined,
    ...more,
  }
}

function rowOf(state: KeyState): TransferRow {
  return transferRow(listed(state))
}

describe('a row on its way out', () => {
  test('holds everything of a key that waits', () => {
    const state = pending(500, {
      laterAt: 2_000,
      laterWhy: 'delay',
      priority: 3,
      failures: 2,
      failedAt: 400,
    })
    expect(rowOf(state)).toMatchObject({
      dueAt: 500,
      laterAt: 2_000,
      laterWhy: 'delay',
      readyAt: 500,
      seq: 1,
      priority: 3,
      failures: 2,
      failedAt: 400,
    })
  })

  test('puts a claimed run back in its place', () => {
    const state = pending(500, { priority: 3, seq: 7 })
    transitions.claim(state, 42, never, now, 8)
    expect(rowOf(state)).toMatchObject({ dueAt: 500, readyAt: 500, seq: 7, priority: 3 })
    expect(state.token).toBe(42)
  })

  test('keeps a run that was added while it was held', () => {
    const state = pending(500)
    transitions.claim(state, 42, never, now, 8)
    transitions.addAfter(state, 9_000, 'delay', 5, 'client-go', now, 9)
    expect(rowOf(state)).toMatchObject({ dueAt: 500, laterAt: 9_000, laterWhy: 'delay' })
  })
})

describe('a row on its way in', () => {
  const cases: [string, KeyState, KeyState, string, Partial<KeyState>][] = [
    [
      'a new key is taken as it is',
      stateWith(),
      pending(500, { priority: 3 }),
      'imported',
      { dueAt: 500, priority: 3 },
    ],
    [
      'a parked key without a run',
      stateWith(),
      stateWith({ parked: true }),
      'imported',
      { parked: true },
    ],
    ['nothing at all', stateWith(), stateWith(), 'unchanged', { dueAt: never }],
    [
      'the earlier promise comes first',
      pending(3_000),
      pending(2_000),
      'merged',
      { dueAt: 2_000, laterAt: 3_000 },
    ],
    [
      'of three promises the first two stay',
      pending(3_000, { laterAt: 5_000 }),
      pending(2_000),
      'merged',
      { dueAt: 2_000, laterAt: 3_000 },
    ],
    [
      'two that are due are one run',
      pending(900),
      pending(800),
      'merged',
      { dueAt: 800, laterAt: never },
    ],
    [
      'the better place in line',
      pending(900, { seq: 9 }),
      pending(900, { readyAt: 800, seq: 2 }),
      'merged',
      { readyAt: 800, seq: 2 },
    ],
    [
      'ready no later than now, if the clock of the other store is ahead',
      stateWith({}),
      pending(900, { readyAt: 5_000 }),
      'imported',
      { dueAt: 900, readyAt: now },
    ],
    [
      'the place of the row, not that of a run that has ended',
      stateWith({ failures: 1, readyAt: 100, seq: 3, askedAt: 100 }),
      pending(900, { seq: 7 }),
      'merged',
      { dueAt: 900, readyAt: 900, seq: 7, askedAt: 900 },
    ],
    [
      'asked for when the first of both was',
      pending(2_000),
      pending(3_000),
      'merged',
      { dueAt: 2_000, laterAt: 3_000, askedAt: 2_000 },
    ],
    [
      'the higher priority',
      pending(900, { priority: 1 }),
      pending(900, { priority: 2 }),
      'merged',
      { priority: 2 },
    ],
    [
      'priority of a row that owes nothing says nothing',
      pending(900),
      stateWith({ priority: 5, failures: 1, failedAt: 3 }),
      'merged',
      { priority: 0, failures: 1, failedAt: 3 },
    ],
    [
      'the higher counts',
      stateWith({ failures: 3, failedAt: 5 }),
      stateWith({ failures: 2, crashes: 1, failedAt: 9 }),
      'merged',
      { failures: 3, crashes: 1, failedAt: 9 },
    ],
    ['either is parked', pending(900), pending(900, { parked: true }), 'merged', { parked: true }],
    ['or was', pending(900, { parked: true }), pending(900), 'unchanged', { parked: true }],
    [
      'a holder goes on holding',
      stateWith({ token: 4, claimedDueAt: 1 }),
      pending(900, { readyAt: 950 }),
      'merged',
      { token: 4, dueAt: 900, readyAt: 900 },
    ],
  ]

  test.each(cases)('%s', (_name, state, source, outcome, after) => {
    const row = rowOf(source)
    expect(transitions.mergeRow(state, row, now)).toBe(outcome)
    expect(state).toMatchObject(after)
    const once = { ...state }
    expect(transitions.mergeRow(state, row, now)).toBe('unchanged')
    expect(state).toEqual(once)
  })
})

describe('a row that is to be dropped', () => {
  test('is the same as long as nothing was done to the key', () => {
    const state = pending(500, { failures: 1, failedAt: 3 })
    const row = rowOf(state)
    expect(isUnchanged(state, undefined, row)).toBe(true)
    expect(isUnchanged(state, '1', row)).toBe(false)
    expect(isUnchanged({ ...state, token: 4 }, undefined, row)).toBe(false)
    for (const [member, value] of Object.entries({
      dueAt: 400,
      seq: 2,
      priority: 1,
      failures: 2,
      parked: true,
      laterAt: 900,
      askedAt: 1,
    })) {
      expect(isUnchanged({ ...state, [member]: value }, undefined, row), member).toBe(false)
    }
  })

  test('of an idle key, only what it counts matters', () => {
    const state = stateWith({ failures: 1, failedAt: 3, seq: 4, readyAt: 2 })
    const row = rowOf(state)
    expect(isUnchanged({ ...state, seq: 9, readyAt: never }, undefined, row)).toBe(true)
    expect(isUnchanged({ ...state, failures: 2 }, undefined, row)).toBe(false)
  })
})
