import {
  type BucketState,
  bucketsOf,
  delayMsMax,
  type PlannedLimiter,
  planDelay,
  reserveToken,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  defaultControllerLimiter,
  exponential,
  fastSlow,
  jittered,
  maxOf,
  TokenBucket,
  tokenBucket,
  withMaxWait,
} from '../src/index.ts'

const durations = fc.oneof(
  fc.constantFrom(0, 1e-6, 1, 5, 1e6, delayMsMax, 1e300),
  fc.double({ min: 0, max: 1e6, noNaN: true }),
)
const perSeconds = fc.oneof(
  fc.constantFrom(0, 1, 3, 10, 1e9, Infinity),
  fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
)
const bursts = fc.oneof(fc.constantFrom(0, 1), fc.nat(50))

/** What the made limiters share: the clock, one chance, and a name for each bucket. */
function workshop(chance: number) {
  const clock = fakeClock()
  let buckets = 0
  return {
    clock,
    random: () => chance,
    nextName: () => {
      buckets += 1
      return `bucket-${buckets}`
    },
  }
}
type Make = (shop: ReturnType<typeof workshop>) => PlannedLimiter

const { limiter: makes } = fc.letrec<{ limiter: Make }>((tie) => ({
  limiter: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'limiter' },
    fc.tuple(durations, durations).map(
      ([baseMs, maxMs]): Make =>
        () =>
          exponential({ baseMs, maxMs }),
    ),
    fc.tuple(durations, durations, fc.nat(5)).map(
      ([fastMs, slowMs, maxFast]): Make =>
        () =>
          fastSlow({ fastMs, slowMs, maxFast }),
    ),
    fc.tuple(perSeconds, bursts).map(
      ([perSecond, burst]): Make =>
        ({ clock, nextName }) =>
          tokenBucket({ name: nextName(), perSecond, burst, clock }),
    ),
    fc.array(tie('limiter'), { maxLength: 3, size: 'max' }).map(
      (parts): Make =>
        (shop) =>
          maxOf(...parts.map((make) => make(shop))),
    ),
    fc.tuple(tie('limiter'), durations).map(
      ([make, maxMs]): Make =>
        (shop) =>
          withMaxWait(make(shop), maxMs),
    ),
    fc.tuple(tie('limiter'), fc.constantFrom(0, 0.1, 2)).map(
      ([make, factor]): Make =>
        (shop) =>
          jittered(make(shop), factor, { random: shop.random }),
    ),
  ),
}))

const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** A life of some keys: fail, be forgotten, and time that passes. */
const lives = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ fail: fc.constantFrom('a', 'b', 'c') }) },
    { weight: 1, arbitrary: fc.record({ forget: fc.constantFrom('a', 'b', 'c') }) },
    { weight: 2, arbitrary: fc.record({ pass: fc.nat(5_000) }) },
  ),
  { maxLength: 40, size: 'max' },
)

/** A limiter as a store follows it: the plan, a count per key and a row per bucket. */
function stored({ plan }: PlannedLimiter, clock: { now(): number }, chance: number) {
  const failures = new Map<string, number>()
  const rows = new Map<string, BucketState>()
  return {
    when: (key: string) => {
      const delays = new Map<string, number>()
      for (const bucket of bucketsOf(plan)) {
        const { delayMs, state } = reserveToken(rows.get(bucket.name), bucket, clock.now())
        if (state !== undefined) rows.set(bucket.name, state)
        delays.set(bucket.name, delayMs)
      }
      const before = failures.get(key) ?? 0
      failures.set(key, before + 1)
      return planDelay(plan, before, delays, chance)
    },
    forget: (key: string) => failures.delete(key),
  }
}

test('a limiter alone and its plan in a store give the same delays, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(makes, chances, lives, async (make, chance, life) => {
      const shop = workshop(chance)
      const limiter = make(shop)
      const store = stored(limiter, shop.clock, chance)
      for (const event of life) {
        if ('pass' in event) await shop.clock.step(event.pass)
        else if ('forget' in event) {
          limiter.forget(event.forget)
          store.forget(event.forget)
        } else expect(limiter.when(event.fail)).toBe(store.when(event.fail))
      }
    }),
    { numRuns: 1_000 },
  )
})

test('a delay is from 0 to ten years, never NaN', () => {
  fc.assert(
    fc.property(makes, chances, fc.integer({ min: 1, max: 70 }), (make, chance, times) => {
      const limiter = make(workshop(chance))
      for (let call = 0; call < times; call += 1) {
        const ms = limiter.when('a')
        expect(ms).toBeGreaterThanOrEqual(0)
        expect(ms).toBeLessThanOrEqual(delayMsMax)
      }
    }),
  )
})

test('by default, delays of one key never get shorter, nor those of all keys together', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 300 }), (keys) => {
      const limiter = defaultControllerLimiter({ clock: fakeClock() })
      const lastOf = new Map<number, number>()
      for (const key of keys) {
        const ms = limiter.when(key)
        expect(ms).toBeGreaterThanOrEqual(lastOf.get(key) ?? 0)
        lastOf.set(key, ms)
      }
    }),
  )
})

const steps = fc.array(fc.record({ n: fc.nat(5), waitMs: fc.oneof(fc.constant(0), fc.nat(500)) }), {
  maxLength: 30,
})

test('reserve then cancel, at one instant, is as if nothing had happened', () => {
  fc.assert(
    fc.property(perSeconds, bursts, steps, fc.nat(5), (perSecond, burst, before, n) => {
      const [bucket, twin] = [1, 2].map(() => new TokenBucket({ perSecond, burst })) as [
        TokenBucket,
        TokenBucket,
      ]
      let now = 1_735_689_600_000
      for (const step of before) {
        now += step.waitMs
        bucket.reserve(step.n, now)
        twin.reserve(step.n, now)
        bucket.reserve(n, now).cancel(now)
      }
      const scale = Math.max(1, Math.abs(twin.tokens(now)), burst)
      expect(Math.abs(bucket.tokens(now) - twin.tokens(now))).toBeLessThanOrEqual(1e-6 * scale)
    }),
  )
})

test('a reservation is ok exactly if it fits the burst, and a delay never negative', () => {
  fc.assert(
    fc.property(perSeconds, bursts, steps, (perSecond, burst, life) => {
      const bucket = new TokenBucket({ perSecond, burst })
      let now = 1_735_689_600_000
      for (const { n, waitMs } of life) {
        now += waitMs
        const reservation = bucket.reserve(n, now)
        expect(reservation.ok).toBe(n <= burst || perSecond === Infinity)
        expect(reservation.delayMs(now)).toBeGreaterThanOrEqual(0)
        expect(bucket.tokens(now)).toBeLessThanOrEqual(burst)
        expect(bucket.tokens(now)).not.toBeNaN()
      }
    }),
  )
})

test('allow never lets through more than burst + rate * time', () => {
  const finite = perSeconds.filter((perSecond) => perSecond <= 1e6)
  fc.assert(
    fc.property(finite, bursts, steps, (perSecond, burst, life) => {
      const bucket = new TokenBucket({ perSecond, burst })
      let passedMs = 0
      let taken = 0
      for (const { n, waitMs } of life) {
        passedMs += waitMs
        if (bucket.allow(n, passedMs)) taken += n
        expect(taken).toBeLessThanOrEqual(
          burst + (perSecond * passedMs) / 1_000 + 1e-6 * (1 + taken),
        )
      }
    }),
  )
})
