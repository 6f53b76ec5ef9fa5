import { durationBoundsMs } from '@sluice/core'
import { quantile } from '@sluice/core/words'
import { describe, expect, it } from 'vitest'
import { barsOf, gapsOf, linePieces, topOf } from '../client/src/chart/chart-shapes.ts'
import { areaPath, linePath } from '../client/src/overview/line-path.ts'
import {
  clockTime,
  countdown,
  duration,
  isoTime,
  quantileWords,
} from '../client/src/text/durations.ts'
import {
  counted,
  grouped,
  many,
  manyKeys,
  percent,
  rate,
  signedRate,
} from '../client/src/text/figures.ts'
import type { Chart } from '../src/wire.ts'

/** Figures are compared with plain spaces. */
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')

describe('figures', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1,000'],
    [12_041, '12,041'],
    [1_234_567, '1,234,567'],
  ])('stand in groups of three: %d', (count, text) => {
    expect(plain(grouped(count))).toBe(text)
  })

  it('say where the store stopped counting, and only there', () => {
    const states = { ready: 10_000, delayed: 1_500, backoff: 0, processing: 4, dirty: 0 }
    const counts = { ...states, parked: 0, idle: 0, capped: true, paused: false }
    expect(plain(counted(counts.ready, counts))).toBe('10,000+')
    expect(plain(counted(counts.delayed, counts))).toBe('1,500')
    expect(plain(counted(counts.ready, { ...counts, capped: false }))).toBe('10,000')
  })

  it.each([
    [undefined, '–'],
    [0, '0'],
    [0.001, '<0.01'],
    [0.02, '0.02'],
    [2.14, '2.1'],
    [38, '38.0'],
    [131.4, '131'],
    [4_200, '4,200'],
    [12_340, '12.3k'],
    [250_000, '250k'],
  ])('of rates have as many digits as mean something: %d', (value, text) => {
    expect(plain(rate(value))).toBe(text)
  })

  it('of changes have a sign', () => {
    expect(signedRate(6.5)).toBe('+6.5')
    expect(signedRate(-0.8)).toBe('−0.8')
    expect(signedRate(0)).toBe('±0')
  })

  it.each([
    [undefined, '–'],
    [0, '0 %'],
    [0.004, '0.4 %'],
    [0.091, '9.1 %'],
    [0.714, '71 %'],
    [1, '100 %'],
  ])('of shares are per cent: %d', (value, text) => {
    expect(plain(percent(value))).toBe(text)
  })

  it('know one from many', () => {
    expect(plain(many(1, 'key'))).toBe('1 key')
    expect(plain(many(2_041, 'key'))).toBe('2,041 keys')
    expect(plain(many(0, 'entry', 'entries'))).toBe('0 entries')
  })
})

describe('durations', () => {
  it.each([
    [-5, '0 ms'],
    [0, '0 ms'],
    [0.4, '<1 ms'],
    [3.2, '3 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [4_120, '4.1 s'],
    [38_000, '38 s'],
    [59_600, '1 min'],
    [72_000, '1 min 12 s'],
    [3_599_900, '1 h'],
    [7_500_000, '2 h 5 min'],
    [187_200_000, '2 d 4 h'],
    [9e10, '2.9 years'],
  ])('have the unit that fits: %d', (ms, text) => {
    expect(plain(duration(ms))).toBe(text)
  })

  it.each([
    [-1, 'now'],
    [0, 'now'],
    [1, '0.1 s'],
    [400, '0.4 s'],
    [9_951, '10 s'],
    [38_200, '39 s'],
    [60_000, '1 min'],
  ])('that are left are rounded up, so that nothing is early: %d', (ms, text) => {
    expect(plain(countdown(ms))).toBe(text)
  })

  it('never show sixty seconds or sixty minutes', () => {
    for (let ms = 0; ms < 8_000_000; ms += 499) {
      expect(`${duration(ms)} ${countdown(ms)}`).not.toMatch(/\b60\b/)
    }
  })
})

describe('a count of keys', () => {
  it('has its noun, and a mark if there may be more', () => {
    expect([manyKeys(0, false), manyKeys(1, false), manyKeys(1, true)]).toEqual([
      ...['0 keys', '1 key', '1+ keys'],
    ])
  })
})

describe('a quantile', () => {
  it('of durations beyond those that are told apart is shown as longer than them', () => {
    const half = (counts: readonly number[]) => quantile(durationBoundsMs, counts, 0.5) ?? 0
    const beyond = [...durationBoundsMs.map(() => 0), 5]
    expect(plain(quantileWords(half(beyond)))).toBe('>17 min 29 s')
    expect(plain(quantileWords(half(beyond.toReversed())))).toBe('<1 ms')
  })
})

describe('times', () => {
  it('have a day where it is another than today', () => {
    const now = new Date(2026, 10, 21, 12, 44, 41, 120).getTime()
    expect(clockTime(now, now)).toBe('12:44:41.120')
    expect(clockTime(now - 86_400_000, now)).toBe('2026-11-20 12:44:41.120')
  })

  it('out of reach of calendars are shown as numbers', () => {
    expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z')
    expect(isoTime(9e15)).toBe('9000000000000000')
  })
})

describe('a line', () => {
  const box = { width: 100, height: 20, top: 10 }

  it('runs from left to right, and up for more', () => {
    expect(linePath([0, 5, 10], box)).toBe('M0 20L50 10L100 0')
  })

  it('stays in its box, and on the ground where there is nothing', () => {
    expect(linePath([20], box)).toBe('M0 0')
    expect(linePath([3, 4], { ...box, top: 0 })).toBe('M0 20L100 20')
    expect(linePath([], box)).toBe('')
    expect(areaPath([], box)).toBe('')
  })

  it('is interrupted where nothing is known', () => {
    expect(linePath([0, null, 10, 5], box)).toBe('M0 20M66.7 0L100 10')
    expect(areaPath([0, null, 10], box)).toBe('M0 20V20H0ZM100 0V20H100Z')
  })

  it('is closed along the ground to be filled', () => {
    expect(areaPath([10, 10], box)).toBe('M0 0L100 0V20H0Z')
  })
})

describe('charts', () => {
  const stepMs = 60_000
  const stepOf = (index: number, done: number, more: object = {}) => ({
    ...{ at: index * stepMs, done, failed: 0, merged: 0, ready: done },
    ...more,
  })

  it('show rates per second of each step, and the one that is not over once it is 20 s old', () => {
    const steps = [stepOf(0, 60, { failed: 30, merged: 6, capped: true }), stepOf(2, 30)]
    const chart = { from: 0, stepMs, steps } as unknown as Chart
    const first = { index: 0, done: 1, failed: 0.5, merged: 0.1, ready: 60, capped: true }
    expect(barsOf(chart, 2 * stepMs + 19_999)).toEqual([first])
    const young = { index: 2, done: 1.5, failed: 0, merged: 0, ready: 30, capped: false }
    expect(barsOf(chart, 2 * stepMs + 20_000)).toEqual([first, young])
    expect(barsOf(chart, 9 * stepMs)).toEqual([first, { ...young, done: 0.5 }])
    // A short step counts as soon as it has ended.
    const short = { from: 0, stepMs: 10_000, steps: [{ ...stepOf(0, 5), at: 10_000 }] }
    expect(barsOf(short as unknown as Chart, 19_999)).toEqual([])
    expect(barsOf(short as unknown as Chart, 20_000)).toMatchObject([{ index: 1, done: 0.5 }])
  })

  const barOf = (index: number, ready: number) => ({
    ...{ index, done: 0, failed: 0, merged: 0, ready, capped: false },
  })

  it('end at a round number above all values', () => {
    const topFor = (...values: readonly number[]) =>
      topOf(
        values.map((value) => barOf(0, value)),
        ({ ready }) => ready,
      )
    const tops = [[], [0], [0.12, 0.04], [1], [11], [15], [16], [699], [700], [8_001]].map(
      (values) => topFor(...values),
    )
    expect(tops).toEqual([0, 0, expect.closeTo(0.15), 1, 15, 15, 20, 800, 800, 10_000])
  })

  it('have gaps, also in their lines, where nothing is known', () => {
    const bars = [barOf(1, 0), barOf(2, 5), barOf(5, 10)]
    expect(gapsOf(bars, 8)).toEqual([
      ...[
        [0, 1],
        [3, 5],
        [6, 7],
      ],
    ])
    expect(gapsOf([barOf(0, 1), barOf(1, 1)], 3)).toEqual([])
    expect(linePieces(bars, 10, 50)).toEqual(['M1 50L1.5 50L2.5 25', 'M5 0L5.5 0'])
    expect(linePieces([barOf(0, 0)], 0, 50)).toEqual(['M0 50L0.5 50'])
  })
})
