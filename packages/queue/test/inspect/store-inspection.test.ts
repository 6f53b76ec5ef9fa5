import { bookNamePrefix, type Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import {
  createQueue,
  createRateLimitingQueue,
  createWorker,
  exponential,
  inspectStore,
  memoryDriver,
  SluiceError,
  type SluiceTypeError,
  tokenBucket,
} from '../../src/index.ts'
import { moveQueues } from '../../src/transfer/index.ts'
import { LateDriver } from '../support/late-driver.ts'
import { refusal } from '../support/refusal.ts'
import { Scene, setups, take } from '../support/setups.ts'

/** A driver that counts how often it was opened and closed. */
function counted(inner: Driver = memoryDriver()) {
  const seen = { opened: 0, closed: 0 }
  const driver = new Proxy(inner, {
    get(target, name) {
      if (name === 'open') {
        return (options: Parameters<Driver['open']>[0]) => {
          seen.opened += 1
          return target.open(options)
        }
      }
      if (name === 'close') {
        return () => {
          seen.closed += 1
          return target.close()
        }
      }
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { driver, seen }
}

test.each([
  ['of a newer layout', 'ERR_SCHEMA_NEWER'],
  ['that is damaged', 'ERR_STORE_DAMAGED'],
] as const)('a queue %s does not hide the time of its store', async (_, code) => {
  const unreadable = new SluiceError(code, 'queue a cannot be read')
  const inner = memoryDriver()
  const driver = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (queue: unknown, ...rest: unknown[]): unknown => {
        if (queue === 'a') throw unreadable
        return Reflect.apply(member, target, [queue, ...rest])
      }
    },
  })
  const store = inspectStore(driver, { clock: fakeClock(5_000) })
  await expect(store.queue('a').counts()).rejects.toBe(unreadable)
  expect(await store.now()).toBe(5_000)
  expect(await store.queue('b').counts()).toMatchObject({ ready: 0 })
  expect(await store.now()).toBe(5_000)
  await store.close()
})

describe('a store is open as long as it is looked into', () => {
  test('opens with the first question and closes with the inspection', async () => {
    const { driver, seen } = counted()
    const store = inspectStore(driver, { clock: fakeClock(5_000) })
    expect(seen).toEqual({ opened: 0, closed: 0 })
    expect(await store.now()).toBe(5_000)
    await store.queue('a').counts()
    await store.queue('b').counts()
    expect(seen).toEqual({ opened: 1, closed: 0 })
    await store.close()
    await store.close()
    expect(seen).toEqual({ opened: 1, closed: 1 })
  })

  test('shares it with the queues of the process', async () => {
    const { driver, seen } = counted()
    const queue = createQueue({ name: 'orders', driver })
    await queue.add('k')
    {
      await using store = inspectStore(driver)
      expect(await store.queues()).toEqual(['orders'])
      expect((await store.queue('orders').counts()).ready).toBe(1)
    }
    expect(seen).toEqual({ opened: 1, closed: 0 })
    await queue.close()
    expect(seen).toEqual({ opened: 1, closed: 1 })
  })

  test('answers nothing after it was closed', async () => {
    const store = inspectStore(memoryDriver())
    const inspect = store.queue('orders')
    await inspect.counts()
    await store.close()
    for (const late of [
      store.queues(),
      store.buckets(),
      store.now(),
      inspect.counts(),
      inspect.forget('k'),
      store.add('orders', { item: 'k' }),
    ]) {
      await expect(late).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    }
  })

  test('has the capabilities of the store, and keeps its clock', () => {
    const driver = memoryDriver()
    const store = inspectStore(driver, { clock: fakeClock() })
    expect(store.driver).toBe('memory')
    expect(store.capabilities).toBe(driver.capabilities)
    expect(() => inspectStore(driver, { clock: fakeClock() })).toThrow(
      expect.objectContaining({ code: 'ERR_CLOCK_MISMATCH' }),
    )
  })

  test('keeps no more queues open than a thousand, and the others work all the same', async () => {
    await using store = inspectStore(memoryDriver())
    await store.add('first', { item: 'k' })
    const first = store.queue('first')
    for (let at = 0; at < 1_001; at += 1) await store.queue(`q${at}`).pause()
    expect((await first.counts()).ready).toBe(1)
    expect((await store.queue('q0').counts()).paused).toBe(true)
    expect(await store.queues()).toHaveLength(1_002)
  })

  test('lists queues and buckets by name, whatever order the store has', async () => {
    const driver = memoryDriver()
    await using store = inspectStore(driver)
    for (const name of ['b', 'c', 'a']) {
      const limiter = tokenBucket({ name: `of ${name}`, perSecond: 1, burst: 1 })
      await using queue = createRateLimitingQueue<string>({ name, driver, limiter })
      await queue.addRateLimited('k')
    }
    const names = ['a', 'b', 'c']
    expect(await store.queues()).toEqual(names)
    expect((await store.buckets()).map(({ name }) => name)).toEqual(
      names.map((name) => `of ${name}`),
    )
  })

  test('leaves nothing behind of queues that are not there', async () => {
    const driver = memoryDriver()
    await using store = inspectStore(driver)
    const inspect = store.queue('nowhere')
    expect(await inspect.get('k')).toBeUndefined()
    expect(await inspect.workers()).toEqual([])
    expect((await inspect.explain('k')).blockedBy).toBe('NOT_FOUND')
    expect(await store.queues()).toEqual([])
  })

  test('looks at a store whose one queue has an order of its own', async () => {
    const keys: string[] = []
    const order = {
      push: (key: string) => void keys.push(key),
      touch: () => undefined,
      pop: () => keys.shift() as string,
      len: () => keys.length,
    }
    const driver = memoryDriver({ order })
    const queue = createQueue({ name: 'only', driver })
    await queue.add('k')
    const store = inspectStore(driver)
    expect(await store.now()).toBeGreaterThan(0)
    expect((await store.queue('only').counts()).ready).toBe(1)
    expect((await store.queue('other').counts()).ready).toBe(0)
    await store.close()
    await queue.close()
  })
})

test('does not list the books in which processes share their metrics', async () => {
  const driver = memoryDriver()
  await using store = inspectStore(driver)
  await store.queue('orders').pause()
  const worker = { holder: 'w', host: '', pid: 0, concurrency: 0, settings: {} }
  const book = `${bookNamePrefix}prometheus:orders`
  await driver.tick(book, { holder: 'w', limit: 1, failuresExpireMs: 1, worker })
  await driver.operate?.pause(book)
  expect(await driver.queues?.()).toContain(book)
  expect(await store.queues()).toEqual(['orders'])
})

test('does not show the mark of a move as a worker', async () => {
  const from = memoryDriver()
  await using store = inspectStore(from)
  await store.add('orders', { key: 'a' })
  await moveQueues({ from, to: memoryDriver() })
  expect(await from.workers?.('orders', 60_000)).toHaveLength(1)
  expect(await store.queue('orders').workers()).toEqual([])
})

describe('a driver that can do less', () => {
  test('cannot list its queues, and is asked to name them', async () => {
    const inner = memoryDriver()
    const driver: Driver = Object.assign(Object.create(inner, { ahead: { value: 0 } }) as Driver, {
      open: inner.open.bind(inner),
      close: inner.close.bind(inner),
      watch: undefined,
      queues: undefined,
      buckets: undefined,
      capabilities: { ...inner.capabilities, queues: false, buckets: false, watch: false },
    })
    await using store = inspectStore(driver)
    const error = (await refusal(store.queues())) as SluiceError
    expect(error.message).toContain('memory has no list')
    expect(await store.buckets()).toEqual([])
  })
})

test('lists the buckets of the store', async () => {
  const clock = fakeClock(1_000_000)
  const driver = memoryDriver()
  const limiter = tokenBucket({ name: 'shared', perSecond: 10, burst: 100 })
  const queue = createRateLimitingQueue({ name: 'orders', driver, clock, limiter })
  await queue.addRateLimited('k')
  await using store = inspectStore(driver)
  expect(await store.buckets()).toEqual([
    { name: 'shared', perSecond: 10, burst: 100, tokens: 99, at: 1_000_000 },
  ])
  await queue.close()
})

test('explains delays by the limiter it is given', async () => {
  const clock = fakeClock(1_000_000)
  const driver = memoryDriver()
  const limiter = exponential({ baseMs: 60_000, maxMs: 600_000 })
  const queue = createRateLimitingQueue({ name: 'orders', driver, clock, limiter })
  await queue.addRateLimited('k')
  await using store = inspectStore(driver, { limiter })
  expect((await store.queue('orders').explain('k')).blockedBy).toBe('BACKOFF_ITEM')
  await queue.close()
})

describe.each(setups)('asking for runs as an operator, over $way', (setup) => {
  function setUp() {
    const scene = new Scene(setup)
    const store = scene.keep(inspectStore(scene.driver, { clock: scene.clock }))
    return { scene, store }
  }

  test('wakes waiters for the key', async () => {
    const { scene, store } = setUp()
    const queue = scene.queue()
    const waiting = queue.get()
    expect(await store.add('q', { item: 'k' })).toBe('added')
    const held = await waiting
    expect(held?.item).toBe('k')
    await held?.done()
  })

  test('takes the item itself for the key, or the key it is given', async () => {
    const { scene, store } = setUp()
    expect(await store.add('q', { item: { id: 1 } })).toBe('added')
    expect(await store.add('q', { item: { id: 2 }, key: 'two' })).toBe('added')
    expect(await store.add('q', { item: 'three', key: 'three' })).toBe('added')
    expect(await scene.states()).toEqual({ 'json:{"id":1}': 'ready', two: 'ready', three: 'ready' })
    expect((await store.queue('q').get('two'))?.item).toEqual({ id: 2 })
    expect((await scene.row('three'))?.item).toBeUndefined()
  })

  test('asks again for a key that a keyOf made, with the item it has', async () => {
    const { scene, store } = setUp()
    const queue = scene.queue<{ id: number; name: string }>({ keyOf: ({ id }) => `user/${id}` })
    await queue.add({ id: 7, name: 'Ada' })
    const first = await take(queue)
    expect(await store.add('q', { key: 'user/7' })).toBe('added')
    await first.done()
    const second = await take(queue)
    expect(second).toMatchObject({ key: 'user/7', item: { id: 7, name: 'Ada' } })
    await second.done()
    expect(await scene.states()).toEqual({})
  })

  test('asks for it later, and with a priority', async () => {
    const { scene, store } = setUp()
    expect(await store.add('q', { item: 'k', afterMs: 500, priority: 7 })).toBe('added')
    expect(await scene.row('k')).toMatchObject({ dueAt: 1_000_500, priority: 7, state: 'delayed' })
    expect(await store.add('q', { key: 'k', afterMs: 100 })).toBe('moved')
    expect(await scene.row('k')).toMatchObject({ dueAt: 1_000_100 })
  })

  test('takes a key that is not stored for its own item', async () => {
    const { scene, store } = setUp()
    expect(await store.add('q', { key: 'fresh' })).toBe('added')
    expect(await store.add('q', { key: 'json:{"id":42}' })).toBe('added')
    const queue = scene.queue<unknown>()
    const helds = await queue.getMany(2)
    expect(helds.map(({ item }) => item)).toEqual(['fresh', { id: 42 }])
    expect(await scene.row('fresh')).toMatchObject({ item: undefined })
    await queue.doneMany(helds)
  })

  test('meets delayed runs as the workers of the queue do', async () => {
    const { scene, store } = setUp()
    const queue = scene.queue({ dedupe: 'earliest' })
    const worker = createWorker({ queue, handler: () => undefined })
    await scene.quiet()
    await store.queue('q').pause()
    await store.add('q', { item: 'k', afterMs: 500 })
    await store.add('q', { item: 'k' })
    expect(await scene.row('k')).toMatchObject({ dueAt: 1_000_000, laterAt: Infinity })
    await worker.stop()
  })

  test.each([
    [{}, 'ask'],
    [{ key: 'json:{' }, 'ask.key'],
    [{ key: '' }, 'ask.key'],
    [{ item: 'k', afterMs: Number.NaN }, 'ask.afterMs'],
    [{ item: 'k', priority: 1.5 }, 'ask.priority'],
    [{ item: () => 1 }, 'item'],
    [{ itm: 'k' }, 'ask.itm'],
  ])('refuses %o, naming %s, and stores nothing', async (ask, parameter) => {
    const { scene, store } = setUp()
    const error = (await refusal(store.add('q', ask as never))) as SluiceTypeError
    expect(SluiceError.is(error, 'ERR_INVALID_INPUT')).toBe(true)
    expect(error.parameter).toBe(parameter)
    expect(await scene.states()).toEqual({})
  })
})

describe.each(setups)('forgetting as an operator, over $way', (setup) => {
  test('resets the counts, and leaves pending runs as they are', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addRateLimited('a')
    await queue.addRateLimited('b')
    await queue.add('c')
    const { inspect } = queue
    const { dueAt } = (await inspect.get('a'))!
    expect(await inspect.forget('a')).toBe('forgotten')
    expect(await inspect.forget('a')).toBe('unchanged')
    expect(await inspect.forget('nobody')).toBe('unchanged')
    expect(await inspect.get('a')).toMatchObject({ failures: 0, dueAt })
    expect((await inspect.get('b'))?.failures).toBe(1)

    const all = inspect.select({})
    const found = { count: 1, capped: false }
    expect(await all.forget({ confirm: () => false })).toEqual({
      ...found,
      confirmed: false,
      changed: 0,
      unchanged: 0,
    })
    expect((await inspect.get('b'))?.failures).toBe(1)
    expect(await all.forget()).toEqual({ ...found, confirmed: true, changed: 1, unchanged: 0 })
    expect((await inspect.get('b'))?.failures).toBe(0)
  })
})

test('gives up looking into a store that does not answer', async () => {
  const late = new LateDriver(memoryDriver())
  const store = inspectStore(late)
  late.before = () => Promise.reject(new SluiceError('ERR_STORE', 'away', { retryable: true }))
  await expect(store.queue('q').oldest()).rejects.toMatchObject({ code: 'ERR_STORE' })
  late.before = () => undefined
  expect(await store.queue('q').oldest()).toBeUndefined()
  await store.close()
})

test('the time of a store, and the age of the oldest key, are not those of a page of keys', async () => {
  const driver = new LateDriver(memoryDriver())
  await using store = inspectStore(driver)
  await store.now()
  await store.queue('q').oldest()
  const lists = driver.calls.filter(({ verb }) => verb === 'list')
  // Where no order of keys is kept, as in memory, a page looks at every key.
  expect(lists.map(({ request }) => request)).toEqual([
    { keys: ['-'], limit: 1 },
    { keys: ['-'], limit: 1 },
  ])
})
