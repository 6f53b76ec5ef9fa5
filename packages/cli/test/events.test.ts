import { failuresExpireMsDefault } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { createRateLimitingQueue, createWorker, inspectStore } from 'sluice'
import { describe, expect, test } from 'vitest'
import { StoreEvents } from '../src/rows/store-events.ts'
import { cli, json, output } from './cli.ts'
import { driverOf } from './queues.ts'
import { storeKinds } from './stores.ts'

interface Event {
  readonly at: number
  readonly queue: string
  readonly event: string
  readonly key?: string
  readonly code?: string
  readonly words: string
}

// Redis keeps no history, and so no failed runs.
const withHistory = storeKinds().filter(({ kind }) => kind !== 'Redis')

describe.each(withHistory)('on $kind', ({ fresh }) => {
  test('events are followed as they happen, and those on record come first', async () => {
    const store = await fresh()
    const queue = createRateLimitingQueue<string>({ name: 'orders', driver: await driverOf(store) })
    const failed = (key: string): Promise<void> =>
      new Promise((resolve) => {
        const worker = createWorker({
          queue,
          maxFailures: 1,
          onError: () => undefined,
          handler: () => {
            throw Object.assign(new Error('no connection'), { code: 'ECONN' })
          },
        })
        void queue
          .add(key)
          .then(() => worker.runUntilIdle())
          .then(resolve)
      })
    await failed('first')

    const stop = new AbortController()
    const seen: Event[] = []
    // Each step begins when the event of the one before has been seen.
    const steps: Record<string, () => Promise<unknown>> = {
      'run-failed first': () => failed('second'),
      'run-failed second': () => output(['pause', 'orders'], { store }),
      paused: () => output(['resume', 'orders'], { store }),
      resumed: async () => stop.abort(),
    }
    await cli(['events', 'orders', '--follow', '--interval', '100ms', '-o', 'json'], {
      store,
      closed: stop.signal,
      onOut: (text) => {
        for (const line of text.trim().split('\n')) {
          const event = JSON.parse(line) as Event
          seen.push(event)
          const name = [event.event, event.key].filter(Boolean).join(' ')
          const step = steps[name]
          delete steps[name]
          void step?.()
        }
      },
    })
    expect(seen.find(({ key }) => key === 'second')).toEqual({
      at: expect.any(Number),
      queue: 'orders',
      event: 'run-failed',
      key: 'second',
      code: 'ECONN',
      words: 'failure 1: no connection',
    })
    expect(seen.filter(({ key }) => key === 'first')).toHaveLength(1)
    expect(seen.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['parked', 'paused', 'resumed', 'state']),
    )
    await queue.close()

    const closed = new AbortController()
    const { out } = await cli(['events', '--follow', '-o', 'name'], {
      store,
      closed: closed.signal,
      onOut: () => closed.abort(),
    })
    expect(out).toBe('orders/run-failed/first\norders/run-failed/second\n')

    const { events } = await json<{ events: Event[] }>(['events'], { store })
    expect(events.map(({ key }) => key)).toEqual(['first', 'second'])
    expect(await output(['events', '--fields', 'event,key'], { store })).toBe(
      'run-failed\tfirst\nrun-failed\tsecond\n',
    )
  })
})

test('a worker that starts or stops is an event', async () => {
  const store = await storeKinds()
    .find(({ kind }) => kind === 'SQLite')
    ?.fresh()
  if (store === undefined) throw new Error('SQLite is always there')
  const driver = await driverOf(store)
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  await queue.add('later', { priority: -1 })
  await using inspection = inspectStore(driver)
  const stop = new AbortController()
  const seen: string[] = []
  const following = cli(['events', '--follow', '--interval', '100ms', '-o', 'json'], {
    store,
    closed: stop.signal,
    onOut: (text) => {
      for (const line of text.trim().split('\n')) {
        const { event } = JSON.parse(line) as Event
        seen.push(event)
        if (event === 'worker-started') void worker.stop()
        if (event === 'worker-stopped') stop.abort()
      }
    },
  })
  const worker = createWorker({ queue, concurrency: 3, handler: async () => undefined })
  await following
  expect(seen.filter((event) => event.startsWith('worker'))).toEqual([
    'worker-started',
    'worker-stopped',
  ])
  expect((await inspection.queue('orders').workers()).length).toBe(1)
  await queue.close()
})

test('a worker that is not seen any more has vanished, and is said once', async () => {
  const clock = fakeClock(1_000_000)
  const driver = memoryDriver()
  await using inspection = inspectStore(driver, { clock })
  await inspection.add('orders', { key: 'a' })
  const worker = { holder: 'w', host: 'h', pid: 7, concurrency: 2, settings: {} }
  await driver.tick('orders', {
    holder: 'w',
    limit: 1,
    failuresExpireMs: failuresExpireMsDefault,
    worker,
  })
  const source = new StoreEvents(inspection, undefined)
  const events = async (): Promise<string[]> =>
    (await source.next()).map(({ event, words }) => `${event}: ${words}`)
  expect(await events()).toEqual(['worker-started: h:7, for 2 keys at a time'])
  expect(await events()).toEqual([])
  await clock.step(120_000)
  expect(await events()).toContain('worker-gone: h:7, without having stopped')
  expect((await events()).filter((text) => text.startsWith('worker'))).toEqual([])
})

test('a worker that has started before the first look is told with the time of its start', async () => {
  const clock = fakeClock(1_000_000)
  const driver = memoryDriver()
  await using inspection = inspectStore(driver, { clock })
  await inspection.add('orders', { key: 'a' })
  const worker = { holder: 'w', host: 'h', pid: 7, concurrency: 2, settings: {} }
  for (let heartbeat = 0; heartbeat < 3; heartbeat += 1) {
    await driver.tick('orders', {
      ...{ holder: 'w', limit: 1, failuresExpireMs: failuresExpireMsDefault },
      worker,
    })
    await clock.step(10_000)
  }
  const events = await new StoreEvents(inspection, undefined).next()
  expect(events.map(({ at, event }) => [event, at])).toEqual([['worker-started', 1_000_000]])
})

test('a queue object that gets a worker after its last one has stopped is an event again', async () => {
  const clock = fakeClock(1_000_000)
  const driver = memoryDriver()
  await using inspection = inspectStore(driver, { clock })
  await inspection.add('orders', { key: 'a' })
  const source = new StoreEvents(inspection, undefined)
  const events = async (concurrency: number): Promise<string[]> => {
    await clock.step(1_000)
    await driver.tick('orders', {
      holder: 'w',
      limit: 1,
      failuresExpireMs: failuresExpireMsDefault,
      worker: { holder: 'w', host: 'h', pid: 7, concurrency, settings: {} },
    })
    return (await source.next())
      .filter(({ event }) => event.startsWith('worker'))
      .map(({ at, event }) => `${event} ${at}`)
  }
  expect(await events(2)).toEqual(['worker-started 1001000'])
  expect(await events(0)).toEqual(['worker-stopped 1002000'])
  expect(await events(3)).toEqual(['worker-started 1003000'])
  expect(await events(3)).toEqual([])
})

test('each failed run of one key is an event, once', async () => {
  const driver = memoryDriver()
  await using inspection = inspectStore(driver)
  const queue = createRateLimitingQueue<string>({ name: 'orders', driver })
  const source = new StoreEvents(inspection, undefined)
  const failures = async (): Promise<string[]> =>
    (await source.next())
      .filter(({ event }) => event === 'run-failed')
      .map(({ key, words }) => `${key} ${words}`)
  for (const count of [1, 2]) {
    const worker = createWorker({
      queue,
      maxFailures: 1,
      onError: () => undefined,
      handler: () => Promise.reject(new Error('no connection')),
    })
    await queue.add('a')
    await worker.runUntilIdle()
    expect(await failures()).toEqual([`a failure ${count}: no connection`])
    expect(await failures()).toEqual([])
    await queue.inspect.unpark('a')
  }
  await queue.close()
})

test('neither an unparked key nor a process without a worker that goes is an event', async () => {
  const clock = fakeClock(1_000_000)
  const driver = memoryDriver()
  await using inspection = inspectStore(driver, { clock })
  await inspection.add('orders', { key: 'a' })
  const orders = inspection.queue('orders')
  await orders.park('a')
  const worker = { holder: 'w', host: 'h', pid: 7, concurrency: 0, settings: {} }
  const failuresExpireMs = failuresExpireMsDefault
  await driver.tick('orders', { holder: 'w', limit: 1, failuresExpireMs, worker })
  const source = new StoreEvents(inspection, undefined)
  await source.next()
  await orders.unpark('a')
  await clock.step(120_000)
  expect((await source.next()).map(({ event }) => event)).toEqual(['state'])
})

test('events of a read that failed half-way come with the next one', async () => {
  const driver = memoryDriver()
  await using inspection = inspectStore(driver)
  for (const queue of ['a', 'b']) await inspection.add(queue, { key: 'key' })
  const source = new StoreEvents(inspection, undefined)
  await source.next()
  await inspection.queue('a').pause()
  const { counts } = driver
  driver.counts = (queue, ...rest) => {
    if (queue === 'b') throw new Error('away')
    return counts.call(driver, queue, ...rest)
  }
  await expect(source.next()).rejects.toThrow('away')
  driver.counts = counts
  expect((await source.next()).map(({ queue, event }) => `${queue} ${event}`)).toContain('a paused')
})

test('a queue that is listed only while it is paused or has keys is followed nevertheless', async () => {
  const driver = memoryDriver()
  await using inspection = inspectStore(driver)
  const source = new StoreEvents(inspection, undefined)
  const events = async (): Promise<string[]> =>
    (await source.next()).map(({ event, words }) =>
      event === 'state' ? (words.split(':')[0] as string) : event,
    )
  expect(await events()).toEqual([])
  const orders = inspection.queue('orders')
  await orders.pause()
  expect(await events()).toEqual(['paused', 'ok -> paused'])
  await orders.resume()
  expect(await inspection.queues()).toEqual([])
  expect(await events()).toEqual(['resumed', 'paused -> ok'])
  await inspection.add('orders', { key: 'a' })
  await orders.park('a')
  expect(await events()).toEqual(['parked', 'ok -> parked'])
  await orders.remove('a')
  expect(await events()).toEqual(['parked -> ok'])
  expect(await events()).toEqual([])
})
