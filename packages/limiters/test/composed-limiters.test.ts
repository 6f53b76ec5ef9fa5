import { type Limiter, nameOwnBucket } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  exponential,
  fastSlow,
  jittered,
  maxOf,
  type PlannedLimiter,
  tokenBucket,
  withMaxWait,
} from '../src/index.ts'

/** A limiter as a stranger writes it: three methods, no plan. Remembers what was asked of it. */
function custom(answers: readonly number[]) {
  const calls: string[] = []
  let next = 0
  const limiter: Limiter<string> = {
    when: (item) => {
      calls.push(`when ${item}`)
      next += 1
      return answers[next - 1] ?? 0
    },
    forget: (item) => {
      calls.push(`forget ${item}`)
    },
    numRequeues: (item) => {
      calls.push(`numRequeues ${item}`)
      return 7
    },
  }
  return { limiter, calls }
}

describe('maxOf', () => {
  test('gives the longest delay, and asks every limiter every time', () => {
    const clock = fakeClock()
    const limiter = maxOf(
      exponential({ baseMs: 5, maxMs: 1_000 }),
      fastSlow({ fastMs: 1, slowMs: 15, maxFast: 1 }),
      tokenBucket({ perSecond: 10, burst: 3, clock }),
    )
    expect(Array.from({ length: 6 }, () => limiter.when('a'))).toEqual([5, 15, 20, 100, 200, 300])
  })

  test('every bucket gives a token, also when another limiter decides', () => {
    const bucket = tokenBucket({ perSecond: 10, burst: 1, clock: fakeClock() })
    const limiter = maxOf(exponential({ baseMs: 60_000, maxMs: 60_000 }), bucket)
    limiter.when('a')
    limiter.when('b')
    expect(bucket.when('c')).toBe(200)
  })

  test('numRequeues is the highest count, and forget reaches all', () => {
    const one = exponential({ baseMs: 1, maxMs: 10 })
    const two = fastSlow({ fastMs: 1, slowMs: 2, maxFast: 3 })
    const limiter = maxOf(one, two)
    limiter.when('a')
    two.when('a')
    expect(limiter.numRequeues('a')).toBe(2)
    limiter.forget('a')
    expect([one.numRequeues('a'), two.numRequeues('a')]).toEqual([0, 0])
  })

  test('without any limiter nothing waits and nothing is counted', () => {
    const limiter = maxOf()
    expect(limiter.when('a')).toBe(0)
    expect(limiter.numRequeues('a')).toBe(0)
    expect(() => limiter.forget('a')).not.toThrow()
    expect(limiter.plan).toEqual({ kind: 'maxOf', of: [] })
  })

  test('never gives less than 0', () => {
    expect(maxOf(custom([-5]).limiter).when('a')).toBe(0)
  })
})

describe('withMaxWait', () => {
  test('cuts the delay, and the limiter within counts and gives tokens as ever', () => {
    const inner = exponential({ baseMs: 100, maxMs: 100_000 })
    const limiter = withMaxWait(inner, 300)
    expect(Array.from({ length: 4 }, () => limiter.when('a'))).toEqual([100, 200, 300, 300])
    expect(limiter.numRequeues('a')).toBe(4)
    expect(inner.when('a')).toBe(1_600)
    limiter.forget('a')
    expect(inner.numRequeues('a')).toBe(0)
  })

  test('a bound of 0 never waits, an infinite one bounds nothing', () => {
    expect(withMaxWait(exponential({ baseMs: 5, maxMs: 10 }), 0).when('a')).toBe(0)
    expect(withMaxWait(exponential({ baseMs: 5, maxMs: 10 }), Infinity).when('a')).toBe(5)
  })
})

describe('jittered', () => {
  test('adds a share of up to factor times the delay', () => {
    const chances = [0, 0.5, 0.999]
    const limiter = jittered(fastSlow({ fastMs: 0, slowMs: 100, maxFast: 0 }), 0.5, {
      random: () => chances.shift()!,
    })
    expect([limiter.when('a'), limiter.when('a'), limiter.when('a')]).toEqual([100, 125, 149.95])
    expect(limiter.numRequeues('a')).toBe(3)
    limiter.forget('a')
    expect(limiter.numRequeues('a')).toBe(0)
  })

  test('a factor of 0 changes nothing, and by default the chance is real', () => {
    const inner = fastSlow({ fastMs: 0, slowMs: 100, maxFast: 0 })
    expect(jittered(inner, 0).when('a')).toBe(100)
    const ms = jittered(inner, 1).when('a')
    expect(ms).toBeGreaterThanOrEqual(100)
    expect(ms).toBeLessThan(200)
  })
})

describe('plans of composed limiters', () => {
  test('a limiter made of planned ones is planned', () => {
    const limiter = withMaxWait(
      jittered(
        maxOf(exponential({ baseMs: 1, maxMs: 2 }), tokenBucket({ perSecond: 3, burst: 4 })),
        0.1,
      ),
      5,
    )
    expectTypeOf(limiter).toEqualTypeOf<PlannedLimiter>()
    expect(limiter.plan).toEqual({
      kind: 'maxWait',
      maxMs: 5,
      of: {
        kind: 'jittered',
        factor: 0.1,
        of: {
          kind: 'maxOf',
          of: [
            { kind: 'exponential', baseMs: 1, maxMs: 2 },
            { kind: 'bucket', name: '', perSecond: 3, burst: 4 },
          ],
        },
      },
    })
    expect(JSON.parse(JSON.stringify(limiter.plan))).toEqual(limiter.plan)
  })

  test('one limiter without a plan leaves the whole without one', () => {
    const planned = exponential({ baseMs: 1, maxMs: 2 })
    const { limiter } = custom([])
    for (const whole of [
      maxOf(planned, limiter),
      withMaxWait(limiter, 5),
      jittered(limiter, 1),
      withMaxWait(jittered(maxOf(planned, limiter), 1), 5),
    ]) {
      expect('plan' in whole).toBe(false)
    }
  })

  test('one name for two buckets of different rates is refused when the limiter is made', () => {
    const one = tokenBucket({ perSecond: 10, burst: 100 })
    const two = tokenBucket({ perSecond: 1, burst: 1_000 })
    expect(() => maxOf(one, withMaxWait(two, 5))).toThrow(/give each bucket a name/)
    const named = tokenBucket({ name: 'hourly', perSecond: 1, burst: 1_000 })
    expect(() => maxOf(one, named)).not.toThrow()
    expect(() => maxOf(named, tokenBucket({ name: 'hourly', perSecond: 2, burst: 1 }))).toThrow(
      /'hourly' stands for two/,
    )
  })

  test('the same bucket twice is fine, and the queue gives it its name in both places', () => {
    const bucket = tokenBucket({ perSecond: 10, burst: 100 })
    const { plan } = maxOf(bucket, withMaxWait(bucket, 5))
    expect(JSON.stringify(nameOwnBucket(plan, 'q')).match(/"queue:q"/g)).toHaveLength(2)
  })
})

describe('limiters of strangers', () => {
  test('take part like ours', () => {
    const { limiter, calls } = custom([1, 50])
    const whole = maxOf(exponential({ baseMs: 10, maxMs: 10 }), limiter)
    expectTypeOf(whole).toEqualTypeOf<Limiter<string>>()
    // @ts-expect-error: one of its parts takes strings only.
    void (() => whole.when(5))
    expect([whole.when('a'), whole.when('a')]).toEqual([10, 50])
    expect(whole.numRequeues('a')).toBe(7)
    whole.forget('a')
    expect(calls).toEqual(['when a', 'when a', 'numRequeues a', 'forget a'])
  })

  test('the item type is that of the stranger', () => {
    const { limiter } = custom([])
    expectTypeOf(withMaxWait(limiter, 1)).toEqualTypeOf<Limiter<string>>()
    expectTypeOf(jittered(limiter, 1)).toEqualTypeOf<Limiter<string>>()
    // Ours take any item, so they fit a queue of whatever items.
    expectTypeOf(exponential({ baseMs: 1, maxMs: 1 })).toExtend<Limiter<{ id: number }>>()
  })

  test.each([
    ['NaN', () => Number.NaN],
    ['a string', () => '5'],
    ['a bigint', () => 5n],
    ['a promise', () => Promise.reject(new Error('no connection'))],
  ])('one that gives %s is not covered up, so that the queue notices', (_, answer) => {
    // A rejection that nothing handles fails the run of the tests.
    for (const make of [
      (limiter: Limiter<string>) => maxOf(exponential({ baseMs: 1, maxMs: 1 }), limiter),
      (limiter: Limiter<string>) => withMaxWait(limiter, 5),
      (limiter: Limiter<string>) => jittered(limiter, 1),
    ]) {
      const { limiter } = custom([])
      expect(make({ ...limiter, when: answer as never }).when('a')).toBeNaN()
    }
  })

  test('Infinity is the longest delay when it is jittered, and 0 stays 0', () => {
    for (const factor of [1, 0]) {
      expect(jittered(custom([Infinity]).limiter, factor).when('a')).toBe(315_576_000_000)
    }
    expect(jittered(custom([0]).limiter, 1, { random: () => 0.9 }).when('a')).toBe(0)
  })
})
