import { expect, test } from 'vitest'
import {
  type BucketState,
  msForTokens,
  reserveToken,
  reserveTokens,
  tokensAt,
  tokensDuring,
} from '../src/limiter/bucket.ts'

const at = 1_735_689_600_000

/** Takes one token after the other at one instant. */
function takeAll(rate: { perSecond: number; burst: number }, times: number) {
  let state: BucketState | undefined
  return Array.from({ length: times }, () => {
    const { delayMs, state: after } = reserveToken(state, rate, at)
    state = after
    return { delayMs, tokens: after?.tokens }
  })
}

test('limit 10, burst 2: tokens go below zero and waits grow by a tenth of a second', () => {
  const taken = takeAll({ perSecond: 10, burst: 2 }, 6)
  expect(taken.map(({ delayMs }) => delayMs)).toEqual([0, 0, 100, 200, 300, 400])
  expect(taken.map(({ tokens }) => tokens)).toEqual([1, 0, -1, -2, -3, -4])
})

test('limit 3, burst 1: waits are cut to whole nanoseconds', () => {
  const taken = takeAll({ perSecond: 3, burst: 1 }, 5)
  expect(taken.map(({ delayMs }) => delayMs)).toEqual([
    0, 333.333333, 666.666666, 1_000, 1_333.333333,
  ])
})

test('nothing stored is a full bucket', () => {
  expect(tokensAt(undefined, { perSecond: 10, burst: 7 }, at)).toBe(7)
})

test('tokens flow in with time, up to the burst', () => {
  const rate = { perSecond: 10, burst: 5 }
  const state = { tokens: -2, lastMs: at }
  expect([0, 100, 250, 700, 1e12].map((ms) => tokensAt(state, rate, at + ms))).toEqual([
    -2, -1, 0.5, 5, 5,
  ])
})

test('time that goes back adds nothing and takes nothing away, and becomes the time', () => {
  const rate = { perSecond: 10, burst: 5 }
  const state = { tokens: 3, lastMs: at }
  expect(tokensAt(state, rate, at - 60_000)).toBe(3)
  expect(reserveToken(state, rate, at - 60_000).state).toEqual({ tokens: 2, lastMs: at - 60_000 })
})

test('an infinite rate gives at once with any burst, and changes nothing', () => {
  const rate = { perSecond: Infinity, burst: 0 }
  const state = { tokens: -3, lastMs: at }
  expect(reserveTokens(state, rate, at, 1_000, 0)).toEqual({ ok: true, delayMs: 0, state })
  expect(reserveToken(undefined, rate, at)).toMatchObject({ delayMs: 0, state: undefined })
})

test('more than the burst is refused and nothing is touched', () => {
  const state = { tokens: 2, lastMs: at }
  const refused = reserveTokens(state, { perSecond: 10, burst: 2 }, at, 3, Infinity)
  expect(refused).toEqual({ ok: false, delayMs: Infinity, state })
  expect(refused.state).toBe(state)
})

test('taking nothing is allowed unless there is a debt', () => {
  const rate = { perSecond: 10, burst: 2 }
  expect(reserveTokens({ tokens: 0, lastMs: at }, rate, at, 0, 0).ok).toBe(true)
  expect(reserveTokens({ tokens: -1, lastMs: at }, rate, at, 0, 0).ok).toBe(false)
})

test('a wait beyond the longest allowed is refused; one that is just as long is not', () => {
  const rate = { perSecond: 10, burst: 2 }
  const state = { tokens: 0, lastMs: at }
  expect(reserveTokens(state, rate, at, 1, 99.999_999).ok).toBe(false)
  expect(reserveTokens(state, rate, at, 1, 100).ok).toBe(true)
})

test('limit 0: the burst can be used once, then the wait is for ever and the debt grows', () => {
  const taken = takeAll({ perSecond: 0, burst: 2 }, 4)
  expect(taken.map(({ delayMs }) => delayMs)).toEqual([0, 0, Infinity, Infinity])
  expect(taken.map(({ tokens }) => tokens)).toEqual([1, 0, -1, -2])
})

test('burst 0: the wait is for ever, and nothing is stored', () => {
  expect(reserveToken(undefined, { perSecond: 10, burst: 0 }, at)).toMatchObject({
    delayMs: Infinity,
    state: undefined,
  })
})

test('a burst below the tokens there are is all there is', () => {
  expect(tokensAt({ tokens: 5, lastMs: at }, { perSecond: 1, burst: 0 }, at)).toBe(0)
  expect(tokensAt({ tokens: 5, lastMs: at }, { perSecond: 1, burst: 3 }, at)).toBe(3)
})

test('a wait of more than 292 years, where the originals overflow, is one that never ends', () => {
  expect(msForTokens(1, 2 ** -30)).toBe(2 ** 30 * 1_000)
  expect(msForTokens(9.3e9, 1)).toBe(Infinity)
  expect(msForTokens(1, 5e-324)).toBe(Infinity)
})

test('no time and no rate bring no tokens, even if the other one is infinite', () => {
  expect(tokensDuring(0, Infinity)).toBe(0)
  expect(tokensDuring(Infinity, 0)).toBe(0)
  expect(tokensDuring(1, Infinity)).toBe(Infinity)
})
