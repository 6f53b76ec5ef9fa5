import type { Claim } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  checkHistory,
  fallingTokens,
  inventedWork,
  lostWork,
  overlappingWork,
} from '../src/histories/checks.ts'
import { type Action, History } from '../src/histories/operation.ts'

/** A history of one key, each action after the one before by default. */
function historyOf(
  ...entries: { readonly action: Action; readonly now?: number; readonly end?: number }[]
): History {
  const history = new History()
  for (const [index, { action, now = 1_000, end = index * 10 + 5 }] of entries.entries()) {
    history.note({ key: 'a', client: 'c', start: index * 10, end, now, action })
  }
  return history
}

const added: Action = {
  verb: 'add',
  ask: { key: 'a', item: '1', priority: 0, delayMs: 0 },
  dedupe: 'client-go',
  answer: { outcome: 'added', dueAt: 1_000, failures: 0 },
}

function claimed(token: number, parts: Partial<Claim> = {}): Action {
  const answer: Claim = {
    key: 'a',
    item: '1',
    token,
    failures: 0,
    crashes: 0,
    priority: 0,
    askedAt: 1_000,
    readyAt: 1_000,
    leaseUntil: 1_040,
    ...parts,
  }
  return { verb: 'claim', leaseMs: 40, answer }
}

function done(token: number, outcome = 'idle'): Action {
  const finish = { as: 'done', key: 'a', token, forget: false } as const
  return { verb: 'finish', finish, dedupe: 'client-go', answer: { outcome } }
}

describe('a correct history', () => {
  test('passes', () => {
    checkHistory(historyOf({ action: added }, { action: claimed(1) }, { action: done(1) }))
  })

  test('passes with a lost answer', () => {
    const { answer: _, ...unanswered } = claimed(1) as Extract<Action, { verb: 'claim' }>
    checkHistory(
      historyOf(
        { action: added },
        { action: unanswered, end: Infinity },
        {
          action: { verb: 'expire', token: 1, dedupe: 'client-go', answer: 'expired' },
          now: 1_040,
        },
        { action: claimed(2, { failures: 1, crashes: 1 }), now: 1_040 },
        { action: done(2), now: 1_040 },
      ),
    )
  })
})

describe('work that is', () => {
  test('lost', () => {
    const history = historyOf(
      { action: added },
      { action: claimed(1) },
      { action: done(1) },
      { action: added },
    )
    expect(lostWork(history)).toHaveLength(1)
    expect(() => checkHistory(history)).toThrow('work was lost')
  })

  test('taken back is not lost', () => {
    const history = historyOf(
      { action: added },
      { action: { verb: 'cancel', answer: 'cancelled' } },
    )
    expect(lostWork(history)).toEqual([])
  })

  test('invented', () => {
    const history = historyOf({ action: claimed(1) }, { action: done(1) })
    expect(inventedWork(history)).toHaveLength(1)
    const foreign = historyOf({ action: added }, { action: claimed(1, { item: '"other"' }) })
    expect(inventedWork(foreign)).toHaveLength(1)
  })

  test('done twice concurrently', () => {
    const history = historyOf({ action: added }, { action: claimed(1) }, { action: claimed(2) })
    expect(overlappingWork(history)).toHaveLength(1)
  })

  test('done again after its lease expired, and not concurrently', () => {
    const history = historyOf(
      { action: added },
      { action: claimed(1) },
      { action: claimed(2), now: 1_040 },
    )
    expect(overlappingWork(history)).toEqual([])
  })
})

test('tokens that do not rise are found', () => {
  const history = historyOf({ action: added }, { action: claimed(2) }, { action: claimed(1) })
  expect(fallingTokens(history)).toHaveLength(1)
})

test('an impossible answer is found', () => {
  const history = historyOf({ action: added }, { action: claimed(1) }, { action: done(1, 'ready') })
  expect(() => checkHistory(history)).toThrow('no order of these calls of a explains')
})
