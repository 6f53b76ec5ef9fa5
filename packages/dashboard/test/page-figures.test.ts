import { durationBoundsMs } from '@sluice/core'
import { quantile } from '@sluice/core/words'
import { describe, expect, it } from 'vitest'
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

  it('is closed along the ground to be filled', () => {
    expect(areaPath([10, 10], box)).toBe('M0 0L100 0V20H0Z')
  })
})
