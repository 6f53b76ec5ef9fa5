import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clampNs, delayNsMax, jitteredNs, msOfNs, nsOfMs } from '../src/limiter/nanoseconds.ts'
import { delayMsMax } from '../src/limits.ts'

test('a duration is cut to whole nanoseconds, towards zero', () => {
  expect(nsOfMs(0)).toBe(0)
  expect(nsOfMs(1)).toBe(1_000_000)
  expect(nsOfMs(0.000_001_9)).toBe(1)
  expect(nsOfMs(0.000_000_9)).toBe(0)
  expect(nsOfMs(1_000 / 3)).toBe(333_333_333)
})

test('what was cut already is not cut again, though floats fall short of it', () => {
  // 1.1 * 1e6 is 1100000.0000000002, and 333.333333 * 1e6 is 333333332.99999994 or so.
  expect(nsOfMs(1.1)).toBe(1_100_000)
  expect(nsOfMs(333.333333)).toBe(333_333_333)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 51 }), (ns) => {
      expect(nsOfMs(msOfNs(ns))).toBe(ns)
    }),
  )
})

test('ten years are exact in nanoseconds, and a delay stays between 0 and there', () => {
  expect(msOfNs(delayNsMax)).toBe(delayMsMax)
  expect(clampNs(1)).toBe(1)
  expect(clampNs(-1)).toBe(0)
  expect(clampNs(Number.NaN)).toBe(0)
  expect(clampNs(Infinity)).toBe(delayNsMax)
  expect(clampNs(nsOfMs(Infinity))).toBe(delayNsMax)
})

test('jitter adds a share of the delay, cut to whole nanoseconds', () => {
  expect(jitteredNs(1_000, 0.5, 0)).toBe(1_000)
  expect(jitteredNs(1_000, 0.5, 0.5)).toBe(1_250)
  expect(jitteredNs(333, 0.1, 0.999)).toBe(366)
  expect(jitteredNs(333, 0, 0.999)).toBe(333)
  expect(jitteredNs(delayNsMax, 1e300, 0.5)).toBe(delayNsMax)
})

test('a chance that is none still gives a delay', () => {
  expect(jitteredNs(1_000, 1, Number.NaN)).toBe(1_000)
  expect(jitteredNs(1_000, 1, -3)).toBe(1_000)
  expect(jitteredNs(1_000, 1, 7)).toBe(2_000)
})
