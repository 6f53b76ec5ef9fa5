import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { Backoff, type BackoffOptions, jitter } from '../src/index.ts'

const tenYearsMs = 315_576_000_000
const hourMs = 3_600_000

function steps(options: BackoffOptions, count: number): number[] {
  const backoff = new Backoff(options)
  return Array.from({ length: count }, () => backoff.step())
}

/** The same from seconds to seconds, as the tables are written. */
function seconds(options: BackoffOptions, count: number): number[] {
  return steps(options, count).map((ms) => ms / 1_000)
}

describe('golden sequences', () => {
  test.each<[string, BackoffOptions, number[]]>([
    ['grows once with 1 step', { durationMs: 1_000, factor: 2, steps: 1 }, [1, 2, 2, 2]],
    ['grows 3 times with 3 steps', { durationMs: 1_000, factor: 2, steps: 3 }, [1, 2, 4, 8, 8]],
    ['is cut to its cap', { durationMs: 1_000, factor: 2, steps: 9, capMs: 3_000 }, [1, 2, 3, 3]],
    ['may reach it', { durationMs: 1_000, factor: 2, steps: 10, capMs: 4_000 }, [1, 2, 4, 4]],
    ['is not cut at first', { durationMs: 10_000, factor: 2, steps: 5, capMs: 3_000 }, [10, 3, 3]],
    ['shrinks', { durationMs: 1_000, factor: 0.5, steps: 3 }, [1, 0.5, 0.25, 0.125, 0.125]],
    ['stays with factor 1', { durationMs: 1_000, factor: 1, steps: 2 }, [1, 1, 1]],
    ['stays with factor 0, above its cap', { durationMs: 5_000, steps: 3, capMs: 1_000 }, [5, 5]],
    ['stays without steps', { durationMs: 1_000, factor: 2 }, [1, 1, 1]],
    ['stays with less than none', { durationMs: 1_000, factor: 2, steps: -3 }, [1, 1]],
    ['stays at nothing', { durationMs: 0, factor: 2, steps: 9 }, [0, 0, 0]],
  ])('%s', (_, options, expected) => {
    expect(seconds(options, expected.length)).toEqual(expected)
  })

  test('333 ns by 1.1: every step is cut to whole nanoseconds', () => {
    const nanoseconds = steps({ durationMs: 0.000_333, factor: 1.1, steps: 6 }, 8)
    expect(nanoseconds.map((ms) => Math.round(ms * 1e6))).toEqual([
      333, 366, 402, 442, 486, 534, 587, 587,
    ])
  })

  test('4 steps from 10 ms by 5, as clients of Kubernetes retry', () => {
    expect(steps({ durationMs: 10, factor: 5, steps: 4 }, 3)).toEqual([10, 50, 250])
  })
})

describe('how the steps count down', () => {
  function counts(options: BackoffOptions, count: number): number[] {
    const backoff = new Backoff(options)
    return Array.from({ length: count }, () => {
      backoff.step()
      return backoff.steps
    })
  }

  test('by one each, to 0 and not below', () => {
    expect(counts({ durationMs: 1, factor: 2, steps: 2 }, 4)).toEqual([1, 0, 0, 0])
    expect(counts({ durationMs: 1, factor: 0, steps: 2 }, 3)).toEqual([1, 0, 0])
    expect(counts({ durationMs: 1, steps: -5 }, 2)).toEqual([0, 0])
    expect(counts({ durationMs: 1, factor: 2, steps: Infinity }, 2)).toEqual([Infinity, Infinity])
  })

  test('beyond the cap they are used up; at exactly the cap they are not', () => {
    expect(counts({ durationMs: 1, factor: 2, steps: 10, capMs: 4 }, 4)).toEqual([9, 8, 0, 0])
  })

  test('unless it is told to go on at the cap', () => {
    const options = { durationMs: 1, factor: 2, steps: 5, capMs: 3, endsAtCap: false }
    expect(counts(options, 6)).toEqual([4, 3, 2, 1, 0, 0])
    expect(steps(options, 6)).toEqual([1, 2, 3, 3, 3, 3])
  })

  test('the duration shows what the next step gives', () => {
    const backoff = new Backoff({ durationMs: 1, factor: 3, steps: 1 })
    expect(backoff.durationMs).toBe(1)
    backoff.step()
    expect(backoff.durationMs).toBe(3)
  })
})

describe('growing beyond what the originals can hold', () => {
  test('1 h by 1e10 with a cap of 24 h goes to the cap', () => {
    const options = { durationMs: hourMs, factor: 1e10, steps: 9, capMs: 24 * hourMs }
    expect(steps(options, 3)).toEqual([hourMs, 24 * hourMs, 24 * hourMs])
  })

  test('1 s by 2 without a cap grows to ten years and stays there, also at step 35 and 2,000', () => {
    for (const capMs of [0, Infinity, undefined]) {
      const all = steps({ durationMs: 1_000, factor: 2, steps: Infinity, capMs }, 2_000)
      expect(all.slice(0, 29)).toEqual(Array.from({ length: 29 }, (_, n) => 1_000 * 2 ** n))
      expect(new Set(all.slice(29))).toEqual(new Set([tenYearsMs]))
    }
  })

  test('a first delay, and a cap, beyond ten years are ten years', () => {
    expect(steps({ durationMs: 1e300, factor: 2, steps: 3 }, 2)).toEqual([tenYearsMs, tenYearsMs])
    expect(new Backoff({ durationMs: 1, capMs: 1e300 }).capMs).toBe(tenYearsMs)
  })

  test('a factor that overflows a float is just a large one', () => {
    expect(steps({ durationMs: hourMs, factor: 1e308, steps: 9 }, 2)).toEqual([hourMs, tenYearsMs])
  })
})

describe('jitter', () => {
  test('adds a share of factor times the duration, cut to whole nanoseconds', () => {
    expect(jitter(1_000, 0.5, () => 0)).toBe(1_000)
    expect(jitter(1_000, 0.5, () => 0.5)).toBe(1_250)
    expect(jitter(0.000_333, 0.1, () => 0.999)).toBe(0.000_366)
  })

  test('a factor of zero or less is taken for 1', () => {
    for (const factor of [0, -0, -3]) expect(jitter(1_000, factor, () => 0.25)).toBe(1_250)
  })

  test('by default the chance is real', () => {
    const all = Array.from({ length: 100 }, () => jitter(1_000, 1))
    expect(Math.min(...all)).toBeGreaterThanOrEqual(1_000)
    expect(Math.max(...all)).toBeLessThan(2_000)
    expect(new Set(all).size).toBeGreaterThan(50)
  })

  test('in a backoff it does not add up, and may exceed the cap', () => {
    const options = { durationMs: 100, factor: 2, steps: 9, capMs: 300, jitter: 0.5 }
    expect(steps({ ...options, random: () => 0.5 }, 5)).toEqual([125, 250, 375, 375, 375])
  })

  test('in a backoff, zero and less mean none', () => {
    for (const jitter of [0, -1]) {
      const options = { durationMs: 100, factor: 2, steps: 1, jitter, random: () => 0.5 }
      expect(steps(options, 2)).toEqual([100, 200])
    }
  })

  test('without steps there is jitter, too', () => {
    expect(steps({ durationMs: 100, jitter: 1, random: () => 0.25 }, 2)).toEqual([125, 125])
  })
})

describe('delayFn and copy', () => {
  test('keep their own steps and leave the backoff as it is', () => {
    const backoff = new Backoff({ durationMs: 1, factor: 2, steps: 5 })
    const one = backoff.delayFn()
    const two = backoff.delayFn()
    expect([one(), one(), one(), two()]).toEqual([1, 2, 4, 1])
    expect([backoff.durationMs, backoff.steps]).toEqual([1, 5])
  })

  test('go on from where the backoff is', () => {
    const backoff = new Backoff({ durationMs: 1, factor: 2, steps: 3 })
    backoff.step()
    const copy = backoff.copy()
    expect([copy.step(), copy.step(), copy.step(), copy.steps]).toEqual([2, 4, 8, 0])
    expect(backoff.step()).toBe(2)
  })
})

describe('delayWithReset', () => {
  async function delays(options: BackoffOptions, resetMs: number, every: number, count: number) {
    const clock = fakeClock()
    const next = new Backoff(options).delayWithReset(clock, resetMs)
    const seen: number[] = []
    for (let call = 0; call < count; call += 1) {
      seen.push(next())
      await clock.step(every)
    }
    return seen
  }
  const doubling = { durationMs: 1, factor: 2, steps: 100 }

  test('starts over each time more than the interval has passed, however busy it was', async () => {
    expect(await delays(doubling, 10, 4, 7)).toEqual([1, 2, 4, 1, 2, 4, 1])
  })

  test('not when exactly the interval has passed', async () => {
    expect(await delays(doubling, 10, 5, 6)).toEqual([1, 2, 4, 1, 2, 4])
    expect(await delays(doubling, 10, 10, 4)).toEqual([1, 2, 1, 2])
  })

  test('with an interval of 0 it never grows', async () => {
    expect(await delays({ ...doubling, jitter: 1, random: () => 0.5 }, 0, 0, 3)).toEqual([
      1.5, 1.5, 1.5,
    ])
  })

  test('without a factor there is nothing to reset', async () => {
    expect(await delays({ durationMs: 7, steps: 2 }, 10, 100, 3)).toEqual([7, 7, 7])
  })

  test('with an interval of 0 it never grows, however many calls there are at an instant', async () => {
    const clock = fakeClock()
    const next = new Backoff(doubling).delayWithReset(clock, 0)
    for (let instant = 0; instant < 3; instant += 1) {
      expect([next(), next(), next()]).toEqual([1, 1, 1])
      await clock.step(1)
    }
  })

  test('the wall may jump; what counts is time that passed', async () => {
    const clock = fakeClock()
    const next = new Backoff(doubling).delayWithReset(clock, 10)
    expect(next()).toBe(1)
    clock.setTime(clock.now() + 1e9)
    expect(next()).toBe(2)
    clock.setTime(0)
    await clock.step(11)
    expect(next()).toBe(1)
  })
})
