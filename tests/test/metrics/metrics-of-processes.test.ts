import { fakeClock } from '@sluice/core/testing'
import { sqliteDriver } from '@sluice/sqlite'
import { createDelayingQueue, createQueue, type Held } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import {
  adds,
  closed,
  exportMetrics,
  storeDepth,
  waited,
} from '../../support/metrics/export-metrics.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'

test('two processes on one file: sums and maxima are what the store holds', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const path = emptyFile()
  const open = () => {
    const driver = sqliteDriver({ file: path })
    const queue = createDelayingQueue<string>({ name: 'orders', driver, clock })
    onTestFinished(() => closed(queue, clock))
    return { queue, ...exportMetrics(clock, driver, ['orders']) }
  }
  const producer = open()
  await producer.queue.add('a')
  await producer.read(adds)
  await clock.step(1)
  const consumer = open()
  await consumer.queue.len()
  for (const item of ['b', 'c', 'd']) await producer.queue.add(item)
  await producer.queue.addAfter('e', 5_000)
  await clock.step(1_000)

  const both = async (name: string) => [await producer.read(name), await consumer.read(name)]
  expect(await both(storeDepth)).toEqual([4, 0])
  expect(await both('workqueue_delayed_items reason="delay"')).toEqual([1, 0])

  // Taken elsewhere than added: the adds are the producer's, the waiting is the consumer's.
  const held = (await consumer.queue.get()) as Held<string>
  expect(held.item).toBe('a')
  expect(await both(adds)).toEqual([4, 0])
  expect(await both('workqueue_queue_duration_seconds_count')).toEqual([0, 1])
  expect(await consumer.read(waited)).toBeCloseTo(1.001, 6)
  expect(await both(storeDepth)).toEqual([3, 0])

  // Due by time: counted by the process that takes it.
  await clock.step(5_000)
  const rest = await consumer.queue.getMany(4)
  expect(rest.map(({ item }) => item)).toEqual(['b', 'c', 'd', 'e'])
  expect(await both(adds)).toEqual([4, 1])

  // The one that was elected goes, and the other takes over.
  await Promise.all([held, ...rest].map((one) => one.release()))
  await producer.metrics.close()
  expect(await consumer.read(storeDepth)).toBe(5)
})

test('a lease that ends is counted once, by the process that finds it', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const path = emptyFile()
  const dead = createQueue<string>({ name: 'orders', driver: sqliteDriver({ file: path }), clock })
  const { read } = exportMetrics(clock)
  await dead.add('a')
  await dead.get()
  await closed(dead, clock)
  const alive = createQueue<string>({ name: 'orders', driver: sqliteDriver({ file: path }), clock })
  onTestFinished(() => closed(alive, clock))
  const taken = alive.get()
  await clock.step(60_000)
  expect((await taken)?.item).toBe('a')
  expect(await read('workqueue_lease_expirations_total')).toBe(1)
})

test('the depth has the keys whose holders have all vanished: nothing else says that they wait', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const path = emptyFile()
  const dead = createQueue<string>({ name: 'orders', driver: sqliteDriver({ file: path }), clock })
  const driver = sqliteDriver({ file: path })
  const producer = createQueue<string>({ name: 'orders', driver, clock })
  onTestFinished(() => closed(producer, clock))
  const { read } = exportMetrics(clock, driver, ['orders'])
  await producer.addMany(['a', 'b'])
  await dead.getMany(2)
  await producer.add('b')
  expect(await read(storeDepth)).toBe(1)
  await closed(dead, clock)
  expect(await read(storeDepth)).toBe(2)
})
