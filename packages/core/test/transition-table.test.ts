// The transition table of the contract, cell by cell; key-states.ts says how a key is written.
import { describe, expect, test } from 'vitest'
import { type Dedupe, type KeyState, transitions } from '../src/driver/index.ts'
import { fresh, key, now, token, written } from './key-states.ts'

/** Rows of `before | outcome | after`, for one verb. */
function table(verb: string, rows: string, run: (state: KeyState) => string | undefined): void {
  describe(verb, () => {
    for (const row of rows.trim().split('\n')) {
      const [before = '', outcome = '', after = ''] = row.split('|').map((cell) => cell.trim())
      test(`${before} -> ${outcome}, ${after}`, () => {
        const state = key(before)
        expect(run(state) ?? '').toBe(outcome)
        expect(written(state)).toBe(after)
      })
    }
  })
}

function addIn(dedupe: Dedupe) {
  return (state: KeyState) => transitions.add(state, 0, dedupe, now, fresh)
}

function addAfterIn(dedupe: Dedupe, ms: number) {
  return (state: KeyState) => transitions.addAfter(state, now + ms, 'delay', 0, dedupe, now, fresh)
}

table(
  'add, client-go',
  `
  -/-     | added     | now/-
  -5/-    | unchanged | -5/-
  now/-   | unchanged | now/-
  +5/-    | added     | now/+5
  -5/+5   | unchanged | -5/+5
  -5/-2   | unchanged | -5/-
  -5/now  | unchanged | -5/-
  +5/+9   | moved     | now/+5
  *-/-    | added     | *now/-
  *-5/-   | unchanged | *-5/-
  *+5/-   | added     | *now/+5
  *-5/+5  | unchanged | *-5/+5
  `,
  addIn('client-go'),
)

table(
  'add, earliest',
  `
  -/-     | added     | now/-
  -5/-    | unchanged | -5/-
  +5/-    | moved     | now/-
  -5/+5   | unchanged | -5/+5
  *-/-    | added     | *now/-
  *+5/-   | moved     | *now/-
  `,
  addIn('earliest'),
)

table(
  'addAfter 5, client-go',
  `
  -/-     | added     | +5/-
  -5/-    | added     | -5/+5
  now/-   | added     | now/+5
  -5/+9   | moved     | -5/+5
  -5/+3   | unchanged | -5/+3
  -5/+5   | unchanged | -5/+5
  -5/-2   | added     | -5/+5
  -5/now  | added     | -5/+5
  +3/-    | unchanged | +3/-
  +5/-    | unchanged | +5/-
  +9/-    | moved     | +5/-
  *-/-    | added     | *+5/-
  *-5/-   | added     | *-5/+5
  *+9/-   | moved     | *+5/-
  *+3/-   | unchanged | *+3/-
  `,
  addAfterIn('client-go', 5),
)

table(
  'addAfter 5, earliest',
  `
  -/-     | added     | +5/-
  -5/-    | unchanged | -5/-
  -5/+9   | unchanged | -5/+9
  +3/-    | unchanged | +3/-
  +9/-    | moved     | +5/-
  *-/-    | added     | *+5/-
  *-5/-   | unchanged | *-5/-
  *+9/-   | moved     | *+5/-
  `,
  addAfterIn('earliest', 5),
)

table(
  'addAfter 5 at the latest, waiting at most 40 since it was asked for (20 ago)',
  `
  -/-     | added     | +5/-
  -5/-    | added     | -5/+5
  now/-   | added     | now/+5
  +3/-    | moved     | +5/-
  +3/+4   | unchanged | +3/+4
  +5/-    | unchanged | +5/-
  +9/-    | unchanged | +9/-
  *+3/-   | moved     | *+5/-
  `,
  (state) => transitions.addLatest(state, now + 5, 40, 0, 'client-go', now, fresh),
)

table(
  'claim',
  `
  now/-   |  | *-/-
  -5/-    |  | *-/-
  -5/+5   |  | *+5/-
  -5/-2   |  | *-/-
  -5/now  |  | *-/-
  `,
  (state) => {
    expect(transitions.isClaimable(state, now)).toBe(true)
    transitions.claim(state, token, now + 30, now, fresh)
    return undefined
  },
)

table(
  'done',
  `
  *-/-    | idle    | -/-
  *now/-  | ready   | now/-
  *-5/-   | ready   | -5/-
  *-5/+5  | ready   | -5/+5
  *-5/-2  | ready   | -5/-
  *+5/-   | delayed | +5/-
  `,
  (state) => transitions.done(state, token, false, now, fresh),
)

for (const dedupe of ['client-go', 'earliest'] as const) {
  table(
    `retry after 5, ${dedupe}`,
    dedupe === 'client-go'
      ? `
  *-/-    | delayed | +5/-
  *-5/-   | ready   | -5/+5
  *-5/+3  | ready   | -5/+3
  *-5/+9  | ready   | -5/+5
  *+3/-   | delayed | +3/-
  *+9/-   | delayed | +5/-
  `
      : `
  *-/-    | delayed | +5/-
  *-5/-   | ready   | -5/-
  *-5/+9  | ready   | -5/+9
  *+9/-   | delayed | +5/-
  `,
    (state) => transitions.retry(state, token, 5, dedupe, now, fresh),
  )
  table(
    `release, ${dedupe}`,
    dedupe === 'client-go'
      ? `
  *-/-    | ready | -50/-
  *-5/-   | ready | -50/-
  *now/-  | ready | -50/-
  *-5/-2  | ready | -50/-
  *-5/+5  | ready | -50/+5
  *+5/-   | ready | -50/+5
  `
      : `
  *-/-    | ready | -50/-
  *-5/-   | ready | -50/-
  *now/-  | ready | -50/-
  *-5/-2  | ready | -50/-
  *-5/+5  | ready | -50/+5
  *+5/-   | ready | -50/-
  `,
    (state) => transitions.release(state, token, dedupe, now, fresh),
  )
  // The lease has expired 1 ago, so the lost run is due at +5.
  table(
    `lease end with a delay of 6, ${dedupe}`,
    dedupe === 'client-go'
      ? `
  *-/-    | expired | +5/-
  *-5/-   | expired | -5/-
  *-5/-2  | expired | -5/-
  *now/-  | expired | now/-
  *-5/+9  | expired | -5/+9
  *+3/-   | expired | +3/+5
  *+9/-   | expired | +5/+9
  `
      : `
  *-/-    | expired | +5/-
  *-5/-   | expired | -5/-
  *-5/-2  | expired | -5/-
  *now/-  | expired | now/-
  *+3/-   | expired | +3/-
  *+9/-   | expired | +5/-
  `,
    (state) => transitions.expire(state, token, 6, 5, dedupe, now, fresh),
  )
}

test('failures of an idle key expire, those of any other do not', () => {
  const idle = key('-/-')
  idle.failures = 4
  idle.failedAt = now - 100
  expect(transitions.countedFailures(idle, now, 101)).toBe(4)
  expect(transitions.countedFailures(idle, now, 100)).toBe(0)
  const waiting = key('+5/-')
  waiting.failures = 4
  waiting.failedAt = now - 100
  expect(transitions.countedFailures(waiting, now, 100)).toBe(4)
})

test('every key has one state word', () => {
  const backoff = key('+5/-')
  backoff.why = 'backoff'
  const parked = key('-5/-')
  parked.parked = true
  const words = [
    key('-/-'),
    key('now/-'),
    key('+5/-'),
    backoff,
    key('*-/-'),
    key('*+5/-'),
    key('*now/-'),
    parked,
  ]
  expect(words.map((state) => transitions.stateWord(state, now))).toEqual([
    'idle',
    'ready',
    'delayed',
    'backoff',
    'processing',
    'processing',
    'dirty',
    'parked',
  ])
})
