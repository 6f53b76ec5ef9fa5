import type { SluiceEvent } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { sqliteDriver } from '@sluice/sqlite'
import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  createWorker,
  exponential,
  type Held,
  memoryDriver,
  type Queue,
  TerminalError,
} from 'sluice'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  adds,
  closed,
  exportMetrics,
  storeDepth,
  waited,
} from '../../support/metrics/export-metrics.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

const depth = 'workqueue_depth priority="0"'
const worked = 'workqueue_work_duration_seconds_sum'
const retries = 'workqueue_retries_total'
const deduplicated = 'workqueue_deduplicated_total'

// Through the direct queue of the driver, in batches, and to a store that outlives the process.
const ways = [
  ['memory', depth, () => ({ driver: memoryDriver() })],
  ['memory with leases', depth, () => ({ driver: memoryDriver(), leaseMs: 30_000 })],
  ['sqlite', storeDepth, () => ({ driver: sqliteDriver({ file: emptyFile() }) })],
  ['postgres', storeDepth, () => ({ driver: server.driver() })],
] as const

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

describe.each(ways)('the metrics of a queue in %s', (_name, depthName, way) => {
  function setUp() {
    const clock = fakeClock(0)
    const exported = exportMetrics(clock)
    const queue = createRateLimitingQueue<string>({
      name: 'orders',
      clock,
      limiter: exponential({ baseMs: 1_000, maxMs: 60_000 }),
      ...way(),
    })
    onTestFinished(() => closed(queue, clock))
    return { ...exported, clock, queue }
  }

  test('the wait of a key ends when its handler starts, also if it was claimed ahead', async () => {
    const clock = fakeClock(0)
    const { read } = exportMetrics(clock)
    const options = { name: 'orders', clock, prefetch: 10, ...way() }
    const queue = createQueue<string>(options)
    onTestFinished(() => closed(queue, clock))
    await queue.addMany(['a', 'b', 'c'])
    let started = 0
    const worker = createWorker<string>({
      queue,
      handler() {
        started += 1
        return new Promise<void>((resolve) => void clock.startTimer(1_000, resolve))
      },
    })
    for (const count of [1, 2, 3]) {
      await expect.poll(() => started).toBe(count)
      await clock.step(1_000)
    }
    await worker.stop()
    expect(await read('workqueue_queue_duration_seconds_count')).toBe(3)
    expect(await read(waited)).toBeCloseTo(0 + 1 + 2, 6)
  })

  test('add, get, add while held, done, get: client-go’s numbers', async () => {
    const { clock, queue, read } = setUp()
    await queue.add('foo')
    expect(await read(adds)).toBe(1)
    expect(await read(depthName)).toBe(1)
    await clock.step(50)

    const first = (await queue.get()) as Held<string>
    expect(await read(waited)).toBeCloseTo(0.05, 6)
    expect(await read(depthName)).toBe(0)
    await queue.add('foo')
    await Promise.all([queue.add('foo'), queue.add('foo'), queue.add('foo'), queue.add('foo')])
    expect(await read(adds)).toBe(2)
    expect(await read(deduplicated)).toBe(4)
    expect(await read(depthName)).toBe(1)
    expect(await queue.len()).toBe(0)
    await clock.step(25)

    await first.done()
    expect(await read(worked)).toBeCloseTo(0.025, 6)
    expect(await read(depthName)).toBe(1)
    const second = (await queue.get()) as Held<string>
    expect(await read(waited)).toBeCloseTo(0.075, 6)
    await clock.step(500)
    expect(await read('workqueue_unfinished_work_seconds')).toBeCloseTo(0.425, 6)
    expect(await read('workqueue_longest_running_processor_seconds')).toBeCloseTo(0.425, 6)
    await second.done()
    expect(await read('workqueue_work_duration_seconds_count')).toBe(2)
    expect(await read(depthName)).toBe(0)
  })

  test('a key that an operator takes from its holder is in the depth, and was added only once', async () => {
    const { clock, queue, read } = setUp()
    await queue.add('hangs')
    const hung = (await queue.get()) as Held<string>
    await clock.step(1_000)
    expect(await queue.inspect.release('hangs')).toBe('changed')
    expect(await read(depthName)).toBe(1)
    expect(await read(worked)).toBeCloseTo(1, 6)
    const again = (await queue.get()) as Held<string>
    expect(await read(depthName)).toBe(0)
    expect(await read(adds)).toBe(1)
    expect(await hung.done()).toBe('lost')
    await again.done()
  })

  test('what waits is seen, by why it waits; and counted in when its time comes', async () => {
    const { clock, queue, read } = setUp()
    await queue.addAfter('later', 10_000)
    await queue.add('failing')
    await ((await queue.get()) as Held<string>).retry(new Error('no'))
    expect(await read('workqueue_delayed_items reason="delay"')).toBe(1)
    expect(await read('workqueue_delayed_items reason="backoff"')).toBe(1)
    expect(await read(retries)).toBe(2)
    expect(await read('workqueue_rate_limiter_delay_seconds_sum')).toBe(1)
    expect(await read(depthName)).toBe(0)

    await clock.step(12_000)
    expect(await read(depthName)).toBe(2)
    expect(await read('workqueue_delayed_items reason="backoff"')).toBe(0)
    expect(await read('workqueue_oldest_ready_age_seconds')).toBeCloseTo(11, 6)
    expect((await queue.getMany(2)).map(({ item }) => item)).toEqual(['failing', 'later'])
    expect(await read(adds)).toBe(3)
    expect(await read(waited)).toBeCloseTo(13, 6)
    expect(await read(depthName)).toBe(0)
  })

  test('every addAfter and addRateLimited is a retry, at whatever delay', async () => {
    const { queue, read } = setUp()
    await queue.add('a')
    await queue.addAfter('a', 0)
    await queue.addAfter('a', 1_000)
    await queue.addRateLimited('a')
    expect(await read(retries)).toBe(3)
    expect(await read(adds)).toBe(1)
  })

  test('the gauges of work in progress stand still after the shutdown', async () => {
    const { clock, queue, read } = setUp()
    await queue.add('a')
    const held = (await queue.get()) as Held<string>
    await clock.step(1_000)
    await queue.shutDown()
    await clock.step(5_000)
    expect(await read('workqueue_unfinished_work_seconds')).toBeCloseTo(1, 1)
    await held.done()
    expect(await read(depthName)).toBe(0)
    await queue.close()
    // A queue that was closed is exported once more.
    expect(await read('workqueue_unfinished_work_seconds')).toBe(0)
    expect(await read('workqueue_unfinished_work_seconds')).toBeUndefined()
  })

  test('what an operator does is seen too', async () => {
    const { queue, read } = setUp()
    await queue.add('a')
    await queue.add('b')
    await queue.add('c')
    await queue.cancel('a')
    await queue.inspect.park('b')
    expect(await read(depthName)).toBe(1)
    await queue.inspect.purge()
    expect(await read(depthName)).toBe(0)
  })

  test('parked keys leave the depth, and come back when they are unparked', async () => {
    const { clock, queue, read } = setUp()
    const depth = async (step: string): Promise<number> => {
      await clock.step(1_000)
      const { ready, dirty } = await queue.inspect.counts()
      expect([step, await read(depthName)]).toEqual([step, ready + dirty])
      return ready + dirty
    }
    await queue.addMany(['a', 'b'])
    await queue.inspect.park('a')
    await queue.add('a')
    expect(await depth('parked, and added')).toBe(1)
    await queue.inspect.unpark('a')
    expect(await depth('unparked')).toBe(2)
    await queue.addAfter('late', 1_500)
    await queue.inspect.park('late')
    await depth('parked before it is due')
    expect(await depth('due while it is parked')).toBe(2)
    await queue.inspect.unpark('late')
    expect(await depth('unparked after it was due')).toBe(3)
    const held = await queue.getMany(1)
    await queue.addMany(held.map(({ item }) => item))
    expect(await depth('dirty')).toBe(3)
    await queue.inspect.park(held[0]?.key ?? '')
    expect(await depth('parked while it is held')).toBe(3)
    await held[0]?.done()
    expect(await depth('given back to be parked')).toBe(2)
    const next = await queue.get()
    await queue.inspect.park(next?.key ?? '')
    await queue.add(next?.item ?? '')
    expect(await depth('added while it is held and parked')).toBe(2)
    await next?.done()
    await queue.inspect.unpark(next?.key ?? '')
    await queue.addAfter('much later', 60_000)
    await queue.inspect.park('much later')
    await queue.inspect.unpark('much later')
    expect(await depth('unparked before it is due')).toBe(2)
    await queue.addAfter(held[0]?.item ?? '', 60_000)
    await queue.inspect.remove(held[0]?.key ?? '')
    await queue.add(held[0]?.item ?? '')
    expect(await depth('removed, and added')).toBe(3)
    await queue.inspect.purge()
    expect(await depth('purged')).toBe(0)
  })

  test('the second run of a key is counted after it was parked and unparked', async () => {
    const { clock, queue, read } = setUp()
    const depth = async (): Promise<number> => {
      const { ready, dirty } = await queue.inspect.counts()
      expect(await read(depthName)).toBe(ready + dirty)
      return ready + dirty
    }
    await queue.addAfter('added while it is parked', 5_000)
    await queue.inspect.park('added while it is parked')
    await queue.add('added while it is parked')
    await queue.add('delayed while it is parked')
    await queue.inspect.park('delayed while it is parked')
    await queue.addAfter('delayed while it is parked', 5_000)
    await queue.add('with two runs')
    await queue.addAfter('with two runs', 5_000)
    await queue.inspect.park('with two runs')
    for (const { key } of (await queue.inspect.list()).keys) await queue.inspect.unpark(key)
    expect(await depth()).toBe(3)
    await queue.getMany(3)
    expect(await depth()).toBe(0)
    await clock.step(5_000)
    expect(await depth()).toBe(3)
  })

  test('a key that the end of its lease parks leaves the depth', async () => {
    const { clock, read } = setUp()
    const options = { name: 'orders', clock, ...way(), leaseMs: 1_000, maxCrashes: 1 }
    const queue = createQueue<string>(options)
    onTestFinished(() => closed(queue, clock))
    const worker = createWorker<string>({
      queue,
      // The queue reports that the first handler is left to its lease.
      onError: () => undefined,
      timeoutMs: 10,
      abandonMs: 10,
      handler: () => new Promise(() => undefined),
    })
    const parked = async (): Promise<number> => {
      await clock.step(1_000)
      return (await queue.inspect.counts()).parked
    }
    await queue.add('a')
    await expect.poll(() => worker.running).toBe(1)
    await queue.add('a')
    expect(await read(depthName)).toBe(1)
    await expect.poll(parked).toBe(1)
    expect(await read(depthName)).toBe(0)
    await worker.stop()
    await queue.inspect.unpark('a')
    expect(await read(depthName)).toBe(1)
  })

  test('the runs of a worker', async () => {
    const { clock, queue, all } = setUp()
    const worker = createWorker<string>({
      queue,
      concurrency: 3,
      handler: (item) => {
        if (item === 'error') throw new Error('no')
        if (item === 'terminal') throw new TerminalError('never')
        if (item === 'requeue') return { requeue: true }
        if (item === 'later') return { requeueAfterMs: 60_000 }
        return undefined
      },
    })
    await queue.addMany(['fine', 'error', 'terminal', 'requeue', 'later'])
    await clock.step(10)
    const handled = async () => (await all()).get('controller_runtime_reconcile_time_seconds_count')
    await expect.poll(handled).toBe(5)
    const series = await all()
    const runs = (result: string) =>
      series.get(`controller_runtime_reconcile_total result="${result}"`)
    expect(['success', 'error', 'requeue', 'requeue_after'].map(runs)).toEqual([1, 2, 1, 1])
    expect(series.get('controller_runtime_reconcile_errors_total')).toBe(2)
    expect(series.get('controller_runtime_terminal_reconcile_errors_total')).toBe(1)
    expect(series.get('controller_runtime_max_concurrent_reconciles')).toBe(3)
    expect(series.get('controller_runtime_active_workers')).toBe(0)
    expect(series.get('controller_runtime_reconcile_time_seconds_count')).toBe(5)
    await worker.stop()
    expect((await all()).get('controller_runtime_max_concurrent_reconciles')).toBe(0)
  })
})

test('a queue without a name has no metrics', async () => {
  const { all } = exportMetrics(fakeClock(0))
  await using queue = createQueue<string>({})
  await queue.add('a')
  expect((await all()).size).toBe(0)
})

test('everything that is recorded comes through one channel, and costs nothing without it', async () => {
  const { sluiceChannel } = await import('@sluice/core')
  const seen: string[] = []
  const { metrics } = exportMetrics(fakeClock(0))
  expect(sluiceChannel.hasSubscribers).toBe(true)
  await metrics.close()
  expect(sluiceChannel.hasSubscribers).toBe(false)
  const listen = (event: SluiceEvent) => void seen.push(event.verb)
  sluiceChannel.start.subscribe(listen as (message: unknown) => void)
  onTestFinished(() => void sluiceChannel.start.unsubscribe(listen as (message: unknown) => void))
  await using queue = createQueue<string>({ name: 'q' })
  await queue.add('a')
  expect(seen).toEqual(['add'])
})

test('delays around a queue that is not ours count their retries under the name they are given', async () => {
  const clock = fakeClock()
  const { read, all } = exportMetrics(clock)
  const { get, done, len, add, shutDown, shutDownWithDrain } = bound(createQueue({ clock }))
  const inner = { get, done, len, add, shutDown, shutDownWithDrain, shuttingDown: false }
  const named = createDelayingQueue<string>({ queue: inner, clock, name: 'around' })
  const unnamed = createDelayingQueue<string>({ queue: inner, clock })
  await named.addAfter('a', 1_000)
  await named.addAfter('b', 0)
  await unnamed.addAfter('c', 1_000)
  expect(await read(retries)).toBe(2)
  expect([...(await all()).keys()].filter((name) => name.startsWith('workqueue'))).toEqual([
    retries,
  ])
  await clock.step(1_000)
  expect(await named.len()).toBe(3)
  await named.shutDown()
})

/** The methods of a queue as functions. */
function bound(queue: Queue<string>): Queue<string> {
  return new Proxy(queue, {
    get(target, property) {
      const value = Reflect.get(target, property, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
