import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BucketState, reserveToken, tokensAt } from '../src/limiter/bucket.ts'

const rates = fc.record({
  perSecond: fc.oneof(
    fc.constantFrom(0, 1e-12, 0.1, 1, 3, 10, 1e9, 1e308, Infinity),
    fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
  ),
  burst: fc.oneof(fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER), fc.nat(1_000)),
})

const start = 1_735_689_600_000

/** How far time moves between two tokens; back, too. */
const stepsMs = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -5_000, max: 20_000 })), {
  maxLength: 50,
})

function takeOverTime(rate: { perSecond: number; burst: number }, steps: readonly number[]) {
  let state: BucketState | undefined
  let now = start
  return steps.map((step) => {
    now += step
    const { delayMs, state: after } = reserveToken(state, rate, now)
    state = after
    return { delayMs, state: after, now }
  })
}

test('a delay is never negative and never NaN, and tokens are always a finite number', () => {
  fc.assert(
    fc.property(rates, stepsMs, (rate, steps) => {
      for (const { delayMs, state } of takeOverTime(rate, steps)) {
        expect(delayMs).toBeGreaterThanOrEqual(0)
        if (state !== undefined) expect(Number.isFinite(state.tokens)).toBe(true)
      }
    }),
  )
})

test('a bucket never holds more than its burst', () => {
  fc.assert(
    fc.property(rates, stepsMs, fc.nat(1e9), (rate, steps, laterMs) => {
      for (const { state, now } of takeOverTime(rate, steps)) {
        expect(tokensAt(state, rate, now + laterMs)).toBeLessThanOrEqual(rate.burst)
      }
    }),
  )
})

test('at one instant, waits never get shorter', () => {
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 50 }), (rate, times) => {
      const waits = takeOverTime(rate, Array(times).fill(0)).map(({ delayMs }) => delayMs)
      expect(waits).toEqual([...waits].sort((a, b) => a - b))
    }),
  )
})

test('while time goes forward, no stretch of it lets through more than burst + rate * time', () => {
  const finite = rates.filter(({ perSecond }) => perSecond < 1e6)
  const forward = fc.array(fc.nat(2_000), { minLength: 1, maxLength: 50 })
  fc.assert(
    fc.property(finite, forward, (rate, steps) => {
      const usableAt = takeOverTime(rate, steps)
        .map(({ delayMs, now }) => now - start + delayMs)
        .filter((ms) => ms !== Infinity)
        .sort((a, b) => a - b)
      for (const [from, fromMs] of usableAt.entries()) {
        for (const [to, toMs] of usableAt.entries()) {
          if (to < from) continue
          const most = rate.burst + (rate.perSecond * (toMs - fromMs)) / 1_000
          // A token that flows in just now counts, and waits are cut by up to a nanosecond.
          expect(to - from + 1).toBeLessThanOrEqual(most + 1 + rate.perSecond * 1e-8 + 1e-6)
        }
      }
    }),
  )
})
