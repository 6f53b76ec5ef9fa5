import { SluiceError, SluiceRangeError, SluiceTypeError } from '@sluice/core'
import { expect, test } from 'vitest'
import {
  defaultControllerLimiter,
  every,
  exponential,
  fastSlow,
  jittered,
  maxOf,
  TokenBucket,
  tokenBucket,
  withMaxWait,
} from '../src/index.ts'

// What a program in JavaScript can pass.
type Loose = (...values: unknown[]) => unknown
const loose = (call: unknown): Loose => call as Loose
const bucketOf = (options: unknown) => new TokenBucket(options as { perSecond: 1; burst: 1 })
const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
const fine = exponential({ baseMs: 1, maxMs: 1 })

const good = {
  exponential: { baseMs: 5, maxMs: 10 },
  fastSlow: { fastMs: 1, slowMs: 2, maxFast: 3 },
  bucket: { perSecond: 10, burst: 2 },
}

/** For each parameter: a function that takes it. */
const numbers: readonly [string, (value: unknown) => unknown][] = [
  ['baseMs', (baseMs) => loose(exponential)({ ...good.exponential, baseMs })],
  ['maxMs', (maxMs) => loose(exponential)({ ...good.exponential, maxMs })],
  ['fastMs', (fastMs) => loose(fastSlow)({ ...good.fastSlow, fastMs })],
  ['slowMs', (slowMs) => loose(fastSlow)({ ...good.fastSlow, slowMs })],
  ['maxFast', (maxFast) => loose(fastSlow)({ ...good.fastSlow, maxFast })],
  ['perSecond', (perSecond) => loose(tokenBucket)({ ...good.bucket, perSecond })],
  ['burst', (burst) => loose(tokenBucket)({ ...good.bucket, burst })],
  ['maxMs', (maxMs) => loose(withMaxWait)(fine, maxMs)],
  ['factor', (factor) => loose(jittered)(fine, factor)],
  ['perSecond', (perSecond) => bucketOf({ ...good.bucket, perSecond })],
  ['burst', (burst) => bucketOf({ ...good.bucket, burst })],
  ['perSecond', (perSecond) => bucket.setLimit(perSecond as number)],
  ['n', (n) => bucket.setBurst(n as number)],
  ['n', (n) => bucket.allow(n as number)],
  ['n', (n) => bucket.reserve(n as number)],
]

const wrong = [null, '5', 5n, {}, [], true, new Date(0), Symbol('x'), () => 5]

test.each(numbers)('%s must be a number', (parameter, call) => {
  for (const value of [...wrong, Number.NaN]) {
    const caught = catchError(() => call(value))
    expect(caught).toBeInstanceOf(SluiceTypeError)
    expect(caught).toMatchObject({ parameter, code: 'ERR_INVALID_INPUT' })
  }
})

test.each(numbers)('%s must not be negative', (parameter, call) => {
  for (const value of [-1, -1e-9, -Infinity]) {
    const caught = catchError(() => call(value))
    expect(caught).toBeInstanceOf(SluiceRangeError)
    expect(caught).toMatchObject({ parameter, code: 'ERR_INVALID_INPUT' })
  }
})

const whole = ['maxFast', 'burst', 'n']

test.each(numbers.filter(([parameter]) => whole.includes(parameter)))(
  '%s must be whole',
  (parameter, call) => {
    for (const value of [0.5, 2 ** 53, Infinity]) {
      expect(catchError(() => call(value))).toMatchObject({
        parameter,
        code: 'ERR_INVALID_INPUT',
      })
    }
  },
)

test.each<[string, () => unknown]>([
  ['options', () => loose(exponential)()],
  ['options', () => loose(fastSlow)(null)],
  ['options', () => loose(tokenBucket)([])],
  ['options', () => loose(defaultControllerLimiter)(5)],
  ['options', () => bucketOf('x')],
  ['rate', () => bucketOf({ ...good.bucket, rate: 5 })],
  ['baseMS', () => loose(exponential)({ ...good.exponential, baseMS: 5 })],
  ['rate', () => loose(tokenBucket)({ ...good.bucket, rate: 5 })],
  ['baseMs', () => loose(fastSlow)({ ...good.fastSlow, baseMs: 5 })],
  ['perSecond', () => loose(defaultControllerLimiter)({ perSecond: 5 })],
  ['name', () => loose(tokenBucket)({ ...good.bucket, name: 5 })],
  ['name', () => loose(tokenBucket)({ ...good.bucket, name: 'a\0b' })],
  ['clock', () => loose(tokenBucket)({ ...good.bucket, clock: 5 })],
  ['clock', () => bucketOf({ ...good.bucket, clock: 5 })],
  ['random', () => loose(jittered)(fine, 1, { random: 5 })],
  ['chance', () => loose(jittered)(fine, 1, { chance: () => 0 })],
  ['limiters[1]', () => loose(maxOf)(fine, undefined)],
  ['limiters[0].when', () => loose(maxOf)({})],
  ['limiter.forget', () => loose(withMaxWait)({ when: () => 1 }, 5)],
  ['limiter.numRequeues', () => loose(jittered)({ when: () => 1, forget: () => {} }, 5)],
  ['intervalMs', () => every(Number.NaN)],
  ['intervalMs', () => loose(every)('5')],
  ['at', () => bucket.tokens(Number.NaN)],
  ['at', () => bucket.tokens(Infinity)],
  ['at', () => bucket.allow(1, new Date() as unknown as number)],
  ['at', () => bucket.reserve(1).delayMs('now' as unknown as number)],
  ['at', () => bucket.reserve(1, 0).cancel(Number.NaN)],
  ['item', () => loose(fine.when)(undefined)],
  ['item', () => loose(fine.when)(() => 5)],
  ['item', () => loose(fine.forget)(undefined)],
  ['item', () => loose(fine.numRequeues)(undefined)],
])('%s is named when it is refused', (parameter, call) => {
  const caught = catchError(call)
  expect(SluiceError.is(caught, 'ERR_INVALID_INPUT')).toBe(true)
  expect(caught).toMatchObject({ parameter })
})

test('wait rejects bad input, and never throws', async () => {
  const wait = loose(bucket.wait.bind(bucket)) as (...values: unknown[]) => Promise<void>
  for (const [parameter, ...values] of [
    ['n', '1'],
    ['n', -1],
    ['n', 3],
    ['options', 1, 5],
    ['signal', 1, { signal: {} }],
    ['deadlineMs', 1, { deadlineMs: '5' }],
    ['timeoutMs', 1, { timeoutMs: 5 }],
  ]) {
    await expect(wait(...values)).rejects.toMatchObject({ parameter, code: 'ERR_INVALID_INPUT' })
  }
})

test('what was refused changed nothing', () => {
  const untouched = new TokenBucket({ perSecond: 10, burst: 2 })
  for (const call of [
    () => untouched.allow(-1, 0),
    () => untouched.allow(1, Number.NaN),
    () => untouched.setLimit(-1, 0),
    () => untouched.setLimit(5, Number.NaN),
    () => untouched.setBurst(0.5, 0),
    () => untouched.setBurst(1, Number.NaN),
  ]) {
    expect(call).toThrow()
  }
  expect([untouched.limit, untouched.burst, untouched.tokens(0)]).toEqual([10, 2, 2])
})

function catchError(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    return error
  }
  return undefined
}
