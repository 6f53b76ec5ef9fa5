import { fakeClock } from '@sluice/core/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DriverHandle } from '../../src/driver/driver-handle.ts'
import { RetryGate } from '../../src/driver/retry-gate.ts'

type Copy = typeof import('../../src/index.ts')

async function anotherCopy(): Promise<Copy> {
  vi.resetModules()
  onTestFinished(() => void vi.resetModules())
  return await import('../../src/index.ts')
}

async function setUp() {
  const [first, second] = [await anotherCopy(), await anotherCopy()]
  const driver = first.memoryDriver()
  const opened: string[] = []
  const { open, close } = driver
  driver.open = (...options) => {
    opened.push('open')
    return open.apply(driver, options)
  }
  driver.close = () => {
    opened.push('close')
    return close.apply(driver)
  }
  const clock = fakeClock()
  const options = { name: 'orders', driver, clock }
  return { first, second, driver, opened, clock, options }
}

test('queues of two copies of the package share a driver: the last one closes it', async () => {
  const { first, second, opened, options } = await setUp()
  expect(first.createQueue).not.toBe(second.createQueue)
  const one = first.createQueue<string>(options)
  const other = second.createQueue<string>(options)
  await one.add('a')
  await other.add('b')
  await other.close()
  expect(opened).toEqual(['open'])
  expect(await one.len()).toBe(2)
  await one.close()
  expect(opened).toEqual(['open', 'close'])
})

test('an add of one copy wakes the queue of the other at once', async () => {
  const { first, second, options } = await setUp()
  const one = first.createQueue<string>(options)
  const other = second.createQueue<string>(options)
  const got = one.get()
  await other.add('a')
  const held = await got
  expect(held?.key).toBe('a')
  await held?.done()
  await Promise.all([one.close(), other.close()])
})

test('a copy with another clock is refused, as a queue of the same copy is', async () => {
  const { first, second, options } = await setUp()
  const one = first.createQueue<string>(options)
  expect(() => second.createQueue({ ...options, clock: fakeClock() })).toThrow(
    expect.objectContaining({ code: 'ERR_CLOCK_MISMATCH' }),
  )
  await one.close()
})

test('a copy that calls the queues of others in another way is refused', async () => {
  const { first, driver, options } = await setUp()
  const registry = Symbol.for('sluice.driver-handles')
  const handles = Reflect.get(globalThis, registry) as WeakMap<object, object>
  handles.set(driver, { version: 0, handle: {} })
  expect(() => first.createQueue(options)).toThrow(
    expect.objectContaining({
      code: 'ERR_CONTRACT_VERSION',
      message: expect.stringContaining('install one version, or make a driver for each'),
    }),
  )
})

test('what another copy calls is as in version 1 of it', () => {
  const members = (of: { prototype: object }) => Object.getOwnPropertyNames(of.prototype).sort()
  // With another list, `handleVersion` rises: the copy that made the handle may be older than its caller.
  expect(members(DriverHandle)).toEqual([
    'clock',
    'constructor',
    'endNeedlessWatch',
    'follow',
    'hasGivenClock',
    'isOpen',
    'isWatching',
    'join',
    'leave',
    'notInTime',
    'open',
    'wake',
    'watchAgain',
  ])
  expect(members(RetryGate)).toEqual([
    'answered',
    'attempt',
    'constructor',
    'failed',
    'isClosed',
    'leave',
    'turn',
    'watch',
  ])
})
