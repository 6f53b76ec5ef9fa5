import { type DirectQueue, never } from '@sluice/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { memoryDriver } from '../src/index.ts'
import { StoreTime } from '../src/store-time.ts'
import { blankClaim } from './blank-claim.ts'
import { HandClock } from './hand-clock.ts'

// Only the reading of the clocks is faked: turns of the event loop are real.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

function pass(ms: number): void {
  vi.advanceTimersByTime(ms)
}

/** Sets the wall clock of this process. */
function setWallClock(ms: number): void {
  vi.setSystemTime(Date.now() + ms)
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Readings in a row that may share one look at the clock; see the driver's documentation. */
const readingsPerLook = 32

test('a coarse reading is at most 31 readings old', () => {
  const time = new StoreTime()
  expect(time.coarse()).toBe(1_000_000)
  pass(5)
  for (let reading = 1; reading < readingsPerLook; reading += 1) {
    expect(time.coarse()).toBe(1_000_000)
  }
  expect(time.coarse()).toBe(1_000_005)
})

test('a coarse reading is of this turn of the event loop', async () => {
  const time = new StoreTime()
  time.coarse()
  pass(5)
  await nextTurn()
  expect(time.coarse()).toBe(1_000_005)
})

test('an exact reading is exact, and so are coarse ones after it', () => {
  const time = new StoreTime()
  time.coarse()
  pass(5)
  expect(time.exact()).toBe(1_000_005)
  expect(time.coarse()).toBe(1_000_005)
})

test('a clock that was passed is read every time', () => {
  const clock = new HandClock(7)
  const time = new StoreTime()
  time.follow(clock)
  expect(time.coarse()).toBe(7)
  clock.pass(1)
  expect(time.coarse()).toBe(8)
})

const hour = 3_600_000
const steps = [-10 * 365.25 * 24 * hour, -hour, -30_000, -1_000, 1_000, 30_000, hour]

test.each(steps)('a wall clock that is set by %d ms changes no time', (ms) => {
  const time = new StoreTime()
  pass(5)
  setWallClock(ms)
  expect(time.exact()).toBe(1_000_005)
  expect(time.ahead).toBe(-ms)
  pass(7)
  expect(time.exact()).toBe(1_000_012)
  expect(time.ahead).toBe(-ms)
  setWallClock(-ms)
  expect(time.ahead).toBe(0)
})

test('clocks that are read to different digits show no step', () => {
  const time = new StoreTime()
  for (let reading = 0; reading < 10; reading += 1) {
    pass(3)
    setWallClock(reading % 2 === 0 ? -1 : 1)
    expect(time.ahead).toBe(0)
  }
})

test.each(steps)('a clock that was handed in and is set by %d ms changes no time', (ms) => {
  const clock = new HandClock()
  const time = new StoreTime()
  time.follow(clock)
  const before = time.exact()
  clock.setTime(clock.now() + ms)
  clock.pass(5)
  expect(time.exact()).toBe(before + 5)
  expect(time.ahead).toBe(-ms)
  time.follow(clock)
  expect(time.exact(), 'opened again').toBe(before + 5)
})

test('time continues where it was with another clock', () => {
  const time = new StoreTime()
  const first = new HandClock(5_000)
  time.follow(first)
  first.pass(10)
  expect(time.exact()).toBe(5_010)
  const second = new HandClock(1_000)
  time.follow(second)
  expect([time.coarse(), time.ahead]).toEqual([5_010, 4_010])
  second.pass(1)
  expect(time.exact()).toBe(5_011)
  time.follow(new HandClock(9_000))
  expect([time.coarse(), time.ahead]).toEqual([9_000, 0])
})

function open(): DirectQueue {
  const driver = memoryDriver()
  void driver.open({})
  return driver.direct!('q')
}

const into = blankClaim()

const options = { dedupe: 'client-go', failuresExpireMs: never } as const

test('delay.flood.does-not-starve: a due key is handed out while delayed keys are added without pause', () => {
  const queue = open()
  queue.ask({ key: 'due', item: undefined, priority: 0, delayMs: 3 }, options)
  let tries = 0
  for (let at = 0; !queue.claim(into, 'h', never); at += 1) {
    if (at % 100 === 99) pass(1)
    queue.ask({ key: `flood ${at}`, item: undefined, priority: 0, delayMs: 60_000 }, options)
    tries = at
  }
  expect(into.key).toBe('due')
  expect(tries).toBe(299)
})

test('a due key is handed out at most 31 calls late while other keys are ready all the time', () => {
  const queue = open()
  queue.ask({ key: 'due', item: undefined, priority: 1, delayMs: 1 }, options)
  queue.add('ready', undefined, 0, options)
  pass(1)
  let calls = 0
  do {
    queue.add('ready', undefined, 0, options)
    calls += 1
  } while (queue.ready() === 1)
  // Each turn of the loop reads the time twice.
  expect(calls).toBeLessThanOrEqual(readingsPerLook / 2)
  expect(queue.claim(into, 'h', never) && into.key).toBe('due')
})

test('a key is never handed out early, and a lone claim never finds it late', () => {
  const queue = open()
  queue.add('before', undefined, 0, options)
  expect(queue.claim(into, 'h', never)).toBe(true)
  queue.ask({ key: 'due', item: undefined, priority: 0, delayMs: 10 }, options)
  for (let ms = 0; ms < 10; ms += 1) {
    expect(queue.claim(into, 'h', never)).toBe(false)
    pass(1)
  }
  expect(queue.claim(into, 'h', never) && into.key).toBe('due')
})

test('a delay is counted from the exact time', () => {
  const queue = open()
  queue.add('before', undefined, 0, options)
  pass(7)
  const ask = { key: 'due', item: undefined, priority: 0, delayMs: 10 }
  expect(queue.ask(ask, options).dueAt).toBe(1_000_017)
  expect(queue.nextAt()).toBe(1_000_007)
})

test.each([
  ['a retry', { as: 'retry', delayMs: 10 }],
  [
    'a run that asks for another one',
    { as: 'done', forget: false, again: { delayMs: 10, priority: 0 } },
  ],
] as const)('the delay of %s is counted from the exact time', (_, how) => {
  const queue = open()
  queue.add('a', undefined, 0, options)
  expect(queue.claim(into, 'h', never)).toBe(true)
  const { handle, key, token } = into
  pass(7)
  expect(queue.finish(handle, { ...how, key, token }, options).dueAt).toBe(1_000_017)
})

test('leases begin and end exactly', () => {
  const driver = memoryDriver()
  void driver.open({})
  const queue = driver.direct!('q')
  queue.add('a', undefined, 0, options)
  pass(7)
  const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 100 }
  expect(driver.claim('q', request)).toMatchObject({ claims: [{ leaseUntil: 1_000_107 }] })
  queue.add('b', undefined, 0, options)
  pass(99)
  expect(queue.claim(into, 'h', never)).toBe(true)
  queue.add('c', undefined, 0, options)
  pass(1)
  // A direct queue does not report expired leases: its caller has to use the driver.
  expect(queue.claim(into, 'h', never)).toBe(false)
  expect(driver.claim('q', request)).toMatchObject({ leaseEnds: [{ key: 'a' }], claims: [{}] })
})
