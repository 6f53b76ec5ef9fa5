import { describe, expect, test } from 'vitest'
import { SluiceRangeError, SluiceTypeError } from '../src/errors.ts'
import {
  bucketsOf,
  checkPlan,
  type ExponentialPlan,
  type LimiterPlan,
  nameOwnBucket,
  perKeyDelay,
  planDelay,
} from '../src/limiter/plan.ts'
import { delayMsMax, planPartsMax } from '../src/limits.ts'

const none = new Map<string, number>()
const exponential: ExponentialPlan = { kind: 'exponential', baseMs: 5, maxMs: 1_000_000 }
const bucket: LimiterPlan = { kind: 'bucket', name: 'b', perSecond: 10, burst: 100 }

function delays(plan: LimiterPlan, count: number): number[] {
  return Array.from({ length: count }, (_, failures) => perKeyDelay(plan, failures, 0))
}

describe('planDelay', () => {
  test('exponential 5 ms to 1,000 s doubles from 5 ms and stays at 1,000 s from call 19', () => {
    expect(delays(exponential, 21)).toEqual([
      5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920,
      163_840, 327_680, 655_360, 1_000_000, 1_000_000, 1_000_000,
    ])
  })

  test('exponential: a base above the maximum is cut to it, from the first call on', () => {
    expect(delays({ kind: 'exponential', baseMs: 10_000, maxMs: 1_000 }, 3)).toEqual([
      1_000, 1_000, 1_000,
    ])
  })

  test('exponential saturates where the originals overflow', () => {
    for (const baseMs of [0.000_001, 0.000_002, 0.001_024, 5]) {
      const plan: LimiterPlan = { kind: 'exponential', baseMs, maxMs: 1_000_000 }
      for (const failures of [53, 62, 63, 64, 1_023, 1_024, 1_025, 2 ** 31 - 1]) {
        expect(perKeyDelay(plan, failures, 0)).toBe(1_000_000)
      }
    }
  })

  test('exponential doubles one nanosecond up to ten years', () => {
    const plan: LimiterPlan = { kind: 'exponential', baseMs: 0.000_001, maxMs: Infinity }
    for (const failures of [30, 31, 32, 50, 58]) {
      expect(perKeyDelay(plan, failures, 0)).toBe(2 ** failures / 1e6)
    }
    expect(perKeyDelay(plan, 59, 0)).toBe(delayMsMax)
  })

  test('exponential: base 0 is 0 for ever', () => {
    for (const failures of [0, 1, 1_023, 1_024, 1_025, 2 ** 31 - 1]) {
      const plan: LimiterPlan = { kind: 'exponential', baseMs: 0, maxMs: 1_000 }
      expect(perKeyDelay(plan, failures, 0)).toBe(0)
      // Not NaN, with which the other parts would delay nothing either.
      expect(
        planDelay({ kind: 'maxOf', of: [plan, bucket] }, failures, new Map([['b', 5]]), 0),
      ).toBe(5)
    }
  })

  test('exponential counts in whole nanoseconds', () => {
    const plan: LimiterPlan = { kind: 'exponential', baseMs: 0.000_003_9, maxMs: 1_000 }
    expect(delays(plan, 4)).toEqual([0.000_003, 0.000_006, 0.000_012, 0.000_024])
  })

  test('fastSlow is fast maxFast times, then slow', () => {
    const plan: LimiterPlan = { kind: 'fastSlow', fastMs: 5, slowMs: 10_000, maxFast: 3 }
    expect(delays(plan, 6)).toEqual([5, 5, 5, 10_000, 10_000, 10_000])
  })

  test('fastSlow with maxFast 0 is slow at once', () => {
    const plan: LimiterPlan = { kind: 'fastSlow', fastMs: 5, slowMs: 10_000, maxFast: 0 }
    expect(delays(plan, 2)).toEqual([10_000, 10_000])
  })

  test('bucket: the delay is that of the bucket, with any number of failures', () => {
    for (const failures of [0, 1, 1_000]) {
      expect(planDelay(bucket, failures, new Map([['b', 123.456789]]), 0)).toBe(123.456789)
    }
  })

  test('bucket: a wait without end is ten years', () => {
    expect(planDelay(bucket, 0, new Map([['b', Infinity]]), 0)).toBe(delayMsMax)
  })

  test('maxOf takes the longest, and 0 without any', () => {
    const plan: LimiterPlan = { kind: 'maxOf', of: [exponential, bucket] }
    expect(planDelay(plan, 3, new Map([['b', 39]]), 0)).toBe(40)
    expect(planDelay(plan, 3, new Map([['b', 41]]), 0)).toBe(41)
    expect(planDelay({ kind: 'maxOf', of: [] }, 3, none, 0)).toBe(0)
  })

  test('maxWait takes the shorter one', () => {
    const plan: LimiterPlan = { kind: 'maxWait', of: bucket, maxMs: 1_000 }
    expect(planDelay(plan, 0, new Map([['b', 999]]), 0)).toBe(999)
    expect(planDelay(plan, 0, new Map([['b', Infinity]]), 0)).toBe(1_000)
  })

  test('jittered adds a share of up to factor times the delay', () => {
    const plan: LimiterPlan = { kind: 'jittered', of: exponential, factor: 0.5 }
    expect([0, 0.5, 0.999].map((chance) => perKeyDelay(plan, 1, chance))).toEqual([
      10, 12.5, 14.995,
    ])
  })

  test('parts may be nested, and each keeps its meaning', () => {
    const plan: LimiterPlan = {
      kind: 'maxWait',
      maxMs: 100,
      of: { kind: 'jittered', factor: 1, of: { kind: 'maxOf', of: [exponential, bucket] } },
    }
    expect(planDelay(plan, 0, new Map([['b', 40]]), 0.5)).toBe(60)
    expect(planDelay(plan, 0, new Map([['b', 400]]), 0.5)).toBe(100)
  })

  test('a bucket that was not asked delays nothing', () => {
    expect(planDelay(bucket, 0, none, 0)).toBe(0)
  })
})

test('perKeyDelay leaves out the buckets', () => {
  const plan: LimiterPlan = { kind: 'maxOf', of: [exponential, bucket] }
  expect(perKeyDelay(plan, 2, 0)).toBe(20)
  expect(perKeyDelay(bucket, 2, 0)).toBe(0)
})

describe('bucketsOf', () => {
  const named = (name: string): LimiterPlan => ({ ...bucket, name }) as LimiterPlan

  test('finds each bucket once, wherever it is nested, in the order of names', () => {
    const plan: LimiterPlan = {
      kind: 'maxOf',
      of: [
        named('z'),
        { kind: 'maxWait', of: named('a'), maxMs: 1 },
        exponential,
        { kind: 'jittered', of: { kind: 'maxOf', of: [named('m'), named('z')] }, factor: 1 },
      ],
    }
    expect(bucketsOf(plan).map(({ name }) => name)).toEqual(['a', 'm', 'z'])
    expect(bucketsOf(named('a'))).toEqual([{ name: 'a', perSecond: 10, burst: 100 }])
  })

  test('leaves out what never runs out, and what has none', () => {
    expect(bucketsOf({ kind: 'bucket', name: 'x', perSecond: 'infinite', burst: 0 })).toEqual([])
    expect(bucketsOf(exponential)).toEqual([])
    expect(bucketsOf({ kind: 'fastSlow', fastMs: 1, slowMs: 2, maxFast: 3 })).toEqual([])
  })
})

describe('nameOwnBucket', () => {
  test('two queues that use one limiter have a bucket each', () => {
    const plan: LimiterPlan = {
      kind: 'maxWait',
      maxMs: 1,
      of: { kind: 'maxOf', of: [exponential, { ...bucket, name: '' } as LimiterPlan] },
    }
    const names = ['orders', 'mails'].map((queue) => bucketsOf(nameOwnBucket(plan, queue))[0]?.name)
    expect(names).toEqual(['queue:orders', 'queue:mails'])
  })

  test('a bucket with a name keeps it, and the rest is left alone', () => {
    const plan: LimiterPlan = {
      kind: 'jittered',
      factor: 1,
      of: {
        kind: 'maxOf',
        of: [bucket, exponential, { kind: 'fastSlow', fastMs: 1, slowMs: 2, maxFast: 3 }],
      },
    }
    expect(nameOwnBucket(plan, 'orders')).toEqual(plan)
  })
})

describe('checkPlan', () => {
  test('holds for every kind of plan, also after a journey through JSON', () => {
    const plan: LimiterPlan = {
      kind: 'maxOf',
      of: [
        exponential,
        bucket,
        { kind: 'bucket', name: 'free', perSecond: 'infinite', burst: 0 },
        { kind: 'bucket', name: 'shut', perSecond: 0, burst: 0 },
        { kind: 'fastSlow', fastMs: 0, slowMs: delayMsMax, maxFast: 0 },
        { kind: 'maxWait', of: { kind: 'jittered', of: bucket, factor: 0 }, maxMs: 0 },
      ],
    }
    expect(checkPlan(plan)).toBe(plan)
    expect(checkPlan(JSON.parse(JSON.stringify(plan)))).toEqual(plan)
  })

  const refused: readonly [string, unknown, string][] = [
    ['plan', undefined, 'TypeError'],
    ['plan', 'exponential', 'TypeError'],
    ['plan.kind', {}, 'TypeError'],
    ['plan.kind', { kind: 'linear' }, 'RangeError'],
    ['plan.kind', { kind: 'toString' }, 'RangeError'],
    ['plan.base', { ...exponential, base: 1 }, 'TypeError'],
    ['plan.baseMs', { ...exponential, baseMs: '5' }, 'TypeError'],
    ['plan.baseMs', { ...exponential, baseMs: Number.NaN }, 'TypeError'],
    ['plan.baseMs', { ...exponential, baseMs: -1 }, 'RangeError'],
    ['plan.maxMs', { ...exponential, maxMs: Infinity }, 'RangeError'],
    ['plan.maxMs', { ...exponential, maxMs: delayMsMax + 1 }, 'RangeError'],
    ['plan.fastMs', { kind: 'fastSlow', fastMs: -1, slowMs: 1, maxFast: 1 }, 'RangeError'],
    ['plan.slowMs', { kind: 'fastSlow', fastMs: 1, slowMs: null, maxFast: 1 }, 'TypeError'],
    ['plan.maxFast', { kind: 'fastSlow', fastMs: 1, slowMs: 1, maxFast: 1.5 }, 'RangeError'],
    ['plan.name', { ...bucket, name: 7 }, 'TypeError'],
    ['plan.name', { ...bucket, name: 'x'.repeat(129) }, 'RangeError'],
    ['plan.perSecond', { ...bucket, perSecond: 'inf' }, 'TypeError'],
    ['plan.perSecond', { ...bucket, perSecond: Infinity }, 'RangeError'],
    ['plan.perSecond', { ...bucket, perSecond: -1 }, 'RangeError'],
    ['plan.burst', { ...bucket, burst: 0.5 }, 'RangeError'],
    ['plan.of', { kind: 'maxOf', of: exponential }, 'TypeError'],
    ['plan.of[1]', { kind: 'maxOf', of: [exponential, null] }, 'TypeError'],
    ['plan.of[0].maxMs', { kind: 'maxOf', of: [{ ...exponential, maxMs: -1 }] }, 'RangeError'],
    ['plan.maxMs', { kind: 'maxWait', of: bucket, maxMs: Number.NaN }, 'TypeError'],
    ['plan.of', { kind: 'maxWait', maxMs: 1 }, 'TypeError'],
    ['plan.factor', { kind: 'jittered', of: bucket, factor: -0.1 }, 'RangeError'],
    ['plan.of', { kind: 'jittered', factor: 1 }, 'TypeError'],
  ]
  test.each(refused)('refuses %s of %j with a %s', (parameter, plan, kind) => {
    const expected = kind === 'TypeError' ? SluiceTypeError : SluiceRangeError
    const caught = catchError(() => checkPlan(plan))
    expect(caught).toBeInstanceOf(expected)
    expect(caught).toMatchObject({ parameter, code: 'ERR_INVALID_INPUT' })
  })

  test('refuses one name for two buckets, and allows it for the same one', () => {
    const twins = (other: object) => ({ kind: 'maxOf', of: [bucket, { ...bucket, ...other }] })
    expect(() => checkPlan(twins({}))).not.toThrow()
    for (const other of [{ perSecond: 11 }, { burst: 99 }, { perSecond: 'infinite' }]) {
      expect(catchError(() => checkPlan(twins(other)))).toMatchObject({
        parameter: 'plan.of[1].name',
      })
    }
  })

  test('refuses more parts than a store should have to follow, also without end', () => {
    const many = (count: number) => ({ kind: 'maxOf', of: Array(count).fill(exponential) })
    expect(() => checkPlan(many(planPartsMax - 1))).not.toThrow()
    expect(() => checkPlan(many(planPartsMax))).toThrow(SluiceRangeError)
    const endless = { kind: 'maxWait', maxMs: 1, of: undefined as unknown }
    endless.of = endless
    expect(() => checkPlan(endless)).toThrow(SluiceRangeError)
  })
})

function catchError(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}
