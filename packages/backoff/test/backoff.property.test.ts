import { delayMsMax, msOfNs, nsOfMs } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backoff, exponentialBackoffManager, jitter } from '../src/index.ts'

const durations = fc.oneof(
  fc.constantFrom(0, 1e-6, 0.000_333, 1, 1_000, 3_600_000, delayMsMax, 1e300),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
)
const factors = fc.oneof(
  fc.constantFrom(0, 0.5, 1, 1.1, 2, 1e10, 1e308),
  fc.double({ min: 0, max: 10, noNaN: true }),
)
const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const options = fc.record({
  durationMs: durations,
  factor: factors,
  jitter: fc.oneof(
    fc.constantFrom(-1, 0, 0.1, 1, 1e300),
    fc.double({ min: 0, max: 3, noNaN: true }),
  ),
  steps: fc.oneof(fc.integer({ min: -2, max: 60 }), fc.constant(Infinity)),
  capMs: durations,
  endsAtCap: fc.boolean(),
  random: chances.map((chance) => () => chance),
})

test('a delay is from 0 to ten years in whole nanoseconds, never NaN or negative', () => {
  fc.assert(
    fc.property(options, (given) => {
      const backoff = new Backoff(given)
      for (let step = 0; step < 70; step += 1) {
        const ms = backoff.step()
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(delayMsMax)
        expect(msOfNs(nsOfMs(ms))).toBe(ms)
        expect(backoff.steps).toBeGreaterThanOrEqual(0)
      }
    }),
  )
})

test('with a factor of 1 or more, delays without jitter never get shorter below the cap', () => {
  fc.assert(
    fc.property(options, (given) => {
      fc.pre(given.factor >= 1 && (given.capMs === 0 || given.durationMs <= given.capMs))
      const backoff = new Backoff({ ...given, jitter: 0 })
      let last = 0
      for (let step = 0; step < 70; step += 1) {
        const ms = backoff.step()
        expect(ms).toBeGreaterThanOrEqual(last)
        last = ms
      }
    }),
  )
})

test('from the second step on, nothing but jitter exceeds the cap', () => {
  fc.assert(
    fc.property(options, (given) => {
      fc.pre(given.factor !== 0 && given.steps >= 1 && given.capMs >= 1e-6)
      const backoff = new Backoff(given)
      backoff.step()
      for (let step = 0; step < 70; step += 1) {
        expect(backoff.durationMs).toBeLessThanOrEqual(given.capMs)
        const ms = backoff.step()
        const most = given.capMs + Math.max(0, given.jitter) * given.capMs
        expect(ms).toBeLessThanOrEqual(most)
      }
    }),
  )
})

test('jitter is not carried on: without it the same delays come, each shorter or equal', () => {
  fc.assert(
    fc.property(options, (given) => {
      const plain = new Backoff({ ...given, jitter: 0 })
      const shaken = new Backoff(given)
      for (let step = 0; step < 70; step += 1) {
        const ms = plain.step()
        expect(shaken.step()).toBeGreaterThanOrEqual(ms)
        expect([shaken.durationMs, shaken.steps]).toEqual([plain.durationMs, plain.steps])
      }
    }),
  )
})

test('jitter gives from the duration to factor times itself more', () => {
  fc.assert(
    fc.property(
      durations,
      fc.double({ min: -2, max: 5, noNaN: true }),
      chances,
      (ms, factor, chance) => {
        const shaken = jitter(ms, factor, () => chance)
        const start = jitter(ms, factor, () => 0)
        expect(start).toBe(msOfNs(nsOfMs(Math.min(ms, delayMsMax))))
        expect(shaken).toBeGreaterThanOrEqual(start)
        const most = start + (factor > 0 ? factor : 1) * start
        expect(shaken).toBeLessThanOrEqual(Math.min(delayMsMax, most))
      },
    ),
  )
})

test('a delay function gives what stepping a backoff gives', () => {
  fc.assert(
    fc.property(options, fc.nat(20), (given, already) => {
      const backoff = new Backoff(given)
      for (let step = 0; step < already; step += 1) backoff.step()
      const next = backoff.delayFn()
      for (let step = 0; step < 30; step += 1) expect(next()).toBe(backoff.step())
    }),
  )
})

test('a manager asked often enough is a backoff, and after an idle while a new one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 30 }),
      fc.integer({ min: 1, max: 15 }),
      async (gapsMs, resetMs) => {
        const clock = fakeClock()
        const growth = { factor: 2, jitter: 0 }
        const manager = exponentialBackoffManager({
          ...growth,
          initialMs: 1,
          maxMs: 100,
          resetMs,
          clock,
        })
        const fresh = () => new Backoff({ ...growth, durationMs: 1, capMs: 100, steps: Infinity })
        let backoff = fresh()
        for (const gapMs of gapsMs) {
          await clock.step(gapMs)
          if (gapMs > resetMs) backoff = fresh()
          expect(manager.nextMs()).toBe(backoff.step())
        }
      },
    ),
  )
})
