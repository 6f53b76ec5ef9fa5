import type { Claim } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  checkHistory,
  fallingTokens,
  inventedWork,
  lostWork,
  overlappingWork,
} from '../src/histories/checks.ts'
import { type Deed, History } from '../src/histories/operation.ts'

/** A history of one key, each deed after the one before unless it says otherwise. */
function historyOf(
  ...entries: { readonly deed: Deed; readonly now?: number; readonly end?: number }[]
): History {
  const history = new History()
  for (const [index, { deed, now = 1_000, end = index * 10 + 5 }] of entries.entries()) {
    history.note({ key: 'a', client: 'c', start: index * 10, end, now, deed })
  }
  return history
}

const added: Deed = {
  verb: 'add',
  ask: { key: 'a', item: '1', priority: 0, delayMs: 0 },
  dedupe: 'client-go',
  answer: { outcome: 'added', dueAt: 1_000, failures: 0 },
}

function claimed(token: number, parts: Partial<Claim> = {}): Deed {
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

function done(token: number, outcome = 'idle'): Deed {
  const finish = { as: 'done', key: 'a', token, forget: false } as const
  return { verb: 'finish', finish, dedupe: 'client-go', answer: { outcome } }
}

describe('a history that is as it should be', () => {
  test('passes', () => {
    checkHistory(historyOf({ deed: added }, { deed: claimed(1) }, { deed: done(1) }))
  })

  test('passes with a lost answer', () => {
    const { answer: _, ...unanswered } = claimed(1) as Extract<Deed, { verb: 'claim' }>
    checkHistory(
      historyOf(
        { deed: added },
        { deed: unanswered, end: Infinity },
        { deed: { verb: 'expire', token: 1, dedupe: 'client-go', answer: 'expired' }, now: 1_040 },
        { deed: claimed(2, { failures: 1, crashes: 1 }), now: 1_040 },
        { deed: done(2), now: 1_040 },
      ),
    )
  })
})

describe('work that is', () => {
  test('lost', () => {
    const history = historyOf(
      { deed: added },
      { deed: claimed(1) },
      { deed: done(1) },
      { deed: added },
    )
    expect(lostWork(history)).toHaveLength(1)
    expect(() => checkHistory(history)).toThrow('work was lost')
  })

  test('taken back is not lost', () => {
    const history = historyOf({ deed: added }, { deed: { verb: 'cancel', answer: 'cancelled' } })
    expect(lostWork(history)).toEqual([])
  })

  test('invented', () => {
    const history = historyOf({ deed: claimed(1) }, { deed: done(1) })
    expect(inventedWork(history)).toHaveLength(1)
    const foreign = historyOf({ deed: added }, { deed: claimed(1, { item: '"other"' }) })
    expect(inventedWork(foreign)).toHaveLength(1)
  })

  test('done twice at a time', () => {
    const history = historyOf({ deed: added }, { deed: claimed(1) }, { deed: claimed(2) })
    expect(overlappingWork(history)).toHaveLength(1)
  })

  test('done again after its lease was over, and not twice at a time', () => {
    const history = historyOf(
      { deed: added },
      { deed: claimed(1) },
      { deed: claimed(2), now: 1_040 },
    )
    expect(overlappingWork(history)).toEqual([])
  })
})

test('tokens that do not rise are found', () => {
  const history = historyOf({ deed: added }, { deed: claimed(2) }, { deed: claimed(1) })
  expect(fallingTokens(history)).toHaveLength(1)
})

test('an answer that makes no sense is found', () => {
  const history = historyOf({ deed: added }, { deed: claimed(1) }, { deed: done(1, 'ready') })
  expect(() => checkHistory(history)).toThrow('no order of these calls of a explains')
})
