import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { every, tokenBucket } from '../src/index.ts'

const tenYearsMs = 315_576_000_000

test('the items do not matter: all of them take from one bucket, at once', () => {
  const limiter = tokenBucket({ perSecond: 10, burst: 2, clock: fakeClock() })
  const items = ['a', 'b', 'a', { c: 1 }, 'd', 'a']
  expect(items.map((item) => limiter.when(item))).toEqual([0, 0, 100, 200, 300, 400])
})

test('nothing is counted, and forget gives nothing back', () => {
  const limiter = tokenBucket({ perSecond: 10, burst: 1, clock: fakeClock() })
  limiter.when('a')
  limiter.forget('a')
  expect(limiter.numRequeues('a')).toBe(0)
  expect(limiter.when('a')).toBe(100)
})

test('the clock that was given decides', async () => {
  const clock = fakeClock()
  const limiter = tokenBucket({ perSecond: 10, burst: 1, clock })
  expect([limiter.when('a'), limiter.when('a'), limiter.when('a')]).toEqual([0, 100, 200])
  await clock.step(250)
  expect(limiter.when('a')).toBe(50)
})

test('without a burst, or once a bucket that never fills is empty, the wait is ten years', () => {
  const clock = fakeClock()
  const empty = tokenBucket({ perSecond: 10, burst: 0, clock })
  expect([empty.when('a'), empty.when('a')]).toEqual([tenYearsMs, tenYearsMs])
  const dry = tokenBucket({ perSecond: 0, burst: 1, clock })
  expect([dry.when('a'), dry.when('a')]).toEqual([0, tenYearsMs])
})

test('an infinite rate never waits, whatever the burst', () => {
  const limiter = tokenBucket({ perSecond: Infinity, burst: 0, clock: fakeClock() })
  expect([limiter.when('a'), limiter.when('a')]).toEqual([0, 0])
  expect(limiter.plan).toEqual({ kind: 'bucket', name: '', perSecond: 'infinite', burst: 0 })
})

test('two limiters that are used alone have a bucket each, also if it has the same name', () => {
  const clock = fakeClock()
  const options = { name: 'shared', perSecond: 1, burst: 1, clock }
  const [one, two] = [tokenBucket(options), tokenBucket(options)]
  expect([one.when('a'), two.when('a')]).toEqual([0, 0])
})

test('every turns an interval into a rate', () => {
  expect(every(1)).toBe(1_000)
  expect(every(100)).toBe(10)
  expect(every(1_000)).toBe(1)
  expect(every(60_000)).toBe(1 / 60)
  expect([every(0), every(-5)]).toEqual([Infinity, Infinity])
  expect(every(Infinity)).toBe(0)
})

test('it works without a clock of its own', () => {
  const limiter = tokenBucket({ perSecond: 1e-6, burst: 1 })
  expect(limiter.when('a')).toBe(0)
  expect(limiter.when('a')).toBeGreaterThan(900_000_000)
})
