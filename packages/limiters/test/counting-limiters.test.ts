import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import {
  defaultControllerLimiter,
  defaultItemLimiter,
  exponential,
  fastSlow,
  type Limiter,
} from '../src/index.ts'

function delays(limiter: Limiter<string>, times: number, item = 'a'): number[] {
  return Array.from({ length: times }, () => limiter.when(item))
}

const doublings = [
  5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920, 163_840,
  327_680, 655_360, 1_000_000, 1_000_000, 1_000_000,
]

describe('exponential', () => {
  test('5 ms to 1,000 s doubles from 5 ms and stays at 1,000 s from call 19', () => {
    expect(delays(exponential({ baseMs: 5, maxMs: 1_000_000 }), 21)).toEqual(doublings)
  })

  test('items have a count each, equal items the same, and it grows without bound', () => {
    const limiter = exponential({ baseMs: 1, maxMs: 50 })
    expect(delays(limiter, 7)).toEqual([1, 2, 4, 8, 16, 32, 50])
    expect(delays(limiter, 2, 'b')).toEqual([1, 2])
    expect([limiter.when({ x: 1, y: 2 }), limiter.when({ y: 2, x: 1 })]).toEqual([1, 2])
    delays(limiter, 2_000)
    expect(limiter.numRequeues('a')).toBe(2_007)
    expect(limiter.when('a')).toBe(50)
  })

  test('an item may be longer than a key', () => {
    const limiter = exponential({ baseMs: 1, maxMs: 100 })
    const order = (note: string) => ({ id: 42, note: note.repeat(600) })
    expect([limiter.when(order('a')), limiter.when(order('a')), limiter.when(order('b'))]).toEqual([
      1, 2, 1,
    ])
    expect(limiter.when('x'.repeat(600))).toBe(1)
    limiter.forget(order('a'))
    expect([limiter.numRequeues(order('a')), limiter.numRequeues(order('b'))]).toEqual([0, 1])
  })

  test('forget starts over; an item that was never seen has no count and can be forgotten', () => {
    const limiter = exponential({ baseMs: 1, maxMs: 1_000 })
    delays(limiter, 3)
    limiter.forget('a')
    expect(limiter.numRequeues('a')).toBe(0)
    expect(limiter.when('a')).toBe(1)
    expect(limiter.numRequeues('b')).toBe(0)
    expect(() => limiter.forget('b')).not.toThrow()
  })

  test('a base above the maximum gives the maximum, from the first call on', () => {
    expect(delays(exponential({ baseMs: 10_000, maxMs: 1_000 }), 2)).toEqual([1_000, 1_000])
  })

  test('call 64 of 1 ns, 63 of 2 ns, 54 of 1,024 ns saturate instead of overflowing', () => {
    for (const [baseMs, call] of [
      [0.000_001, 64],
      [0.000_002, 63],
      [0.001_024, 54],
    ] as const) {
      const all = delays(exponential({ baseMs, maxMs: 1_000_000 }), call + 1)
      expect(all.slice(call - 2)).toEqual([1_000_000, 1_000_000, 1_000_000])
    }
  })

  test('base 0 is still 0 at call 1,025 and after', () => {
    expect(new Set(delays(exponential({ baseMs: 0, maxMs: 1_000 }), 1_100))).toEqual(new Set([0]))
  })

  test('a maximum that is infinite, or beyond ten years, is ten years', () => {
    const tenYearsMs = 315_576_000_000
    for (const maxMs of [Infinity, 1e300]) {
      const limiter = exponential({ baseMs: 1_000, maxMs })
      expect(delays(limiter, 40).at(-1)).toBe(tenYearsMs)
      expect(limiter.plan).toEqual({ kind: 'exponential', baseMs: 1_000, maxMs: tenYearsMs })
    }
  })
})

test('the default for items is 1 ms to 1,000 s', () => {
  expect(delays(defaultItemLimiter(), 12)).toEqual([
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048,
  ])
  expect(defaultItemLimiter().plan).toEqual({ kind: 'exponential', baseMs: 1, maxMs: 1_000_000 })
})

describe('fastSlow', () => {
  test('counts first: maxFast calls are fast, the next are slow, until forget', () => {
    const limiter = fastSlow({ fastMs: 5, slowMs: 10_000, maxFast: 3 })
    expect(delays(limiter, 5)).toEqual([5, 5, 5, 10_000, 10_000])
    expect(delays(limiter, 1, 'b')).toEqual([5])
    expect(limiter.numRequeues('a')).toBe(5)
    limiter.forget('a')
    expect(limiter.numRequeues('a')).toBe(0)
    expect(delays(limiter, 1)).toEqual([5])
  })

  test('with maxFast 0 the first call is slow', () => {
    expect(delays(fastSlow({ fastMs: 5, slowMs: 10_000, maxFast: 0 }), 1)).toEqual([10_000])
  })

  test('fast may be slower than slow', () => {
    expect(delays(fastSlow({ fastMs: 9, slowMs: 1, maxFast: 1 }), 2)).toEqual([9, 1])
  })
})

describe('defaultControllerLimiter', () => {
  test('105 items at one instant: 5 ms for 100 of them, then 100 ms more for each', () => {
    const limiter = defaultControllerLimiter({ clock: fakeClock() })
    const first = Array.from({ length: 105 }, (_, index) => limiter.when(`item-${index}`))
    expect(first.slice(0, 100)).toEqual(Array(100).fill(5))
    expect(first.slice(100)).toEqual([100, 200, 300, 400, 500])
  })

  test('of 10,000 items at one instant the last waits 990 s', () => {
    const limiter = defaultControllerLimiter({ clock: fakeClock() })
    const all = Array.from({ length: 10_000 }, (_, index) => limiter.when(`item-${index}`))
    expect(all.at(-1)).toBe(990_000)
  })

  test('one item that fails again and again follows its own doubling', async () => {
    const clock = fakeClock()
    const limiter = defaultControllerLimiter({ clock })
    for (const expected of doublings) {
      const ms = limiter.when('a')
      expect(ms).toBe(expected)
      await clock.step(ms)
    }
    expect(limiter.numRequeues('a')).toBe(21)
    limiter.forget('a')
    expect(limiter.when('a')).toBe(5)
  })

  test("its bucket is the queue's own, so two queues do not share it by accident", () => {
    expect(defaultControllerLimiter().plan).toEqual({
      kind: 'maxOf',
      of: [
        { kind: 'exponential', baseMs: 5, maxMs: 1_000_000 },
        { kind: 'bucket', name: '', perSecond: 10, burst: 100 },
      ],
    })
  })
})
