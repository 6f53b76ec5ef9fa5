import { execFileSync, spawnSync } from 'node:child_process'
import { sluiceChannel } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { needs } from '@sluice/needs'
import { Gauge, Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { metricIds, metricTable } from '../src/index.ts'
import { type PrometheusOptions, prometheusMetrics } from '../src/prometheus.ts'
import { noCounts, SharedStore, StagedQueue, storeDriver } from './stage.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

function setUp(options: Partial<PrometheusOptions> = {}, capabilities: object = {}) {
  const clock = fakeClock(0)
  const register = new Registry()
  const store = new SharedStore()
  const driver = storeDriver(clock, store, capabilities)
  const metrics = prometheusMetrics({ register, clock, ...options })
  onTestFinished(async () => {
    await metrics.close()
  })
  const queue = new StagedQueue(clock, driver, 'orders')
  return { clock, register, store, metrics, queue, driver }
}

async function lines(register: Registry, start: string): Promise<string[]> {
  return (await register.metrics()).split('\n').filter((line) => line.startsWith(start))
}

test('every metric of the table is there from the first event, with its help and its labels', async () => {
  const { register, queue } = setUp()
  queue.add('a')
  const text = await register.metrics()
  for (const id of metricIds) {
    const { name, kind, help } = metricTable[id]
    expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`)
  }
  expect(await lines(register, 'workqueue_adds_total')).toEqual([
    'workqueue_adds_total{name="orders",controller="orders"} 1',
  ])
  expect(await lines(register, 'controller_runtime_reconcile_total')).toEqual(
    ['success', 'error', 'requeue', 'requeue_after'].map(
      (result) => `controller_runtime_reconcile_total{controller="orders",result="${result}"} 0`,
    ),
  )
  expect(await lines(register, 'workqueue_queue_duration_seconds_count')).toEqual([
    'workqueue_queue_duration_seconds_count{name="orders",controller="orders"} 0',
  ])
})

test('name and controller are both the name of the queue, unless one is given', async () => {
  const { register, queue } = setUp({ controllers: { orders: 'order-controller' } })
  queue.add('a')
  expect(await lines(register, 'workqueue_retries_total')).toEqual([
    'workqueue_retries_total{name="orders",controller="order-controller"} 0',
  ])
})

test('named queues are there before anything happens, also in a store of several processes', async () => {
  const clock = fakeClock(0)
  const store = new SharedStore()
  store.counts = { ...noCounts, ready: 3, dirty: 1, backoff: 2, parked: 5, oldestReadyAt: -1_500 }
  const driver = storeDriver(clock, store, { shared: true, durable: true })
  const { register } = setUp({ driver, queues: ['orders'], clock })
  expect(await lines(register, 'workqueue_depth')).toEqual([
    'workqueue_depth{name="orders",controller="orders",priority=""} 4',
  ])
  expect(await lines(register, 'workqueue_delayed_items')).toEqual([
    'workqueue_delayed_items{name="orders",controller="orders",reason="delay"} 0',
    'workqueue_delayed_items{name="orders",controller="orders",reason="backoff"} 2',
  ])
  expect(await lines(register, 'workqueue_parked_items')).toEqual([
    'workqueue_parked_items{name="orders",controller="orders"} 5',
  ])
  expect(await lines(register, 'workqueue_oldest_ready_age_seconds')).toEqual([
    'workqueue_oldest_ready_age_seconds{name="orders",controller="orders"} 1.5',
  ])
  // One scrape, one reading, whichever metric was asked first.
  expect(store.reads).toBe(4)
})

test('depth by priority: a key leaves under the label under which it came', async () => {
  const { register, queue } = setUp()
  for (let priority = 1; priority <= 30; priority += 1) queue.add(`k${priority}`, 'added', priority)
  queue.ask({ key: 'k1', priority: 40 }, { outcome: 'moved' })
  for (let n = 2; n <= 30; n += 1) queue.claim(`k${n}`)
  const depths = await lines(register, 'workqueue_depth')
  // The first 25, the rest, and a series of priority 0, which is there from the beginning.
  expect(depths).toHaveLength(27)
  expect(depths.filter((line) => !line.endsWith(' 0'))).toEqual([
    'workqueue_depth{name="orders",controller="orders",priority="exceeded_cardinality_limit"} 1',
  ])
  queue.claim('k1')
  expect((await lines(register, 'workqueue_depth')).every((line) => line.endsWith(' 0'))).toBe(true)
})

test('25 priorities keep their labels, whether or not 0 is among them', async () => {
  const { register, queue } = setUp()
  const labels = async (): Promise<string[]> =>
    (await lines(register, 'workqueue_depth')).map((line) => line.match(/priority="([^"]+)"/)![1]!)
  queue.add('zero')
  queue.claim('zero')
  expect(await labels()).toEqual(['0'])
  for (let priority = 1; priority <= 24; priority += 1) queue.add(`k${priority}`, 'added', priority)
  expect(await labels()).toHaveLength(25)
  queue.add('k25', 'added', 25)
  expect((await labels()).at(-1)).toBe('exceeded_cardinality_limit')
  const other = setUp()
  for (let priority = 1; priority <= 25; priority += 1) {
    other.queue.add(`k${priority}`, 'added', priority)
  }
  const text = await other.register.metrics()
  expect(text).not.toContain('exceeded_cardinality_limit')
  expect(text).toContain('workqueue_depth{name="orders",controller="orders",priority="0"} 0')
})

test('buckets: tidy ones unless those of the originals are asked for', async () => {
  const bounds = async (options: Partial<PrometheusOptions>) => {
    const { register, queue } = setUp(options)
    queue.add('a')
    const found = await lines(register, 'workqueue_work_duration_seconds_bucket')
    return found.map((line) => Number(line.match(/le="([^"]+)"/)?.[1]?.replace('+Inf', 'Infinity')))
  }
  expect(await bounds({})).toHaveLength(20)
  expect((await bounds({ buckets: 'controller-runtime' })).at(-2)).toBeCloseTo(1_000)
  expect((await bounds({ buckets: 'kubernetes' })).at(-2)).toBeCloseTo(10)
  expect(await bounds({ buckets: [1, 2] })).toEqual([1, 2, Number.POSITIVE_INFINITY])
})

test('bounds are written as Go writes them, so that rules which name a bound find it', async () => {
  const bounds = async (buckets: NonNullable<PrometheusOptions['buckets']>) => {
    const { register, queue } = setUp({ buckets })
    queue.add('a')
    queue.claim('a')
    const found = await lines(register, 'workqueue_queue_duration_seconds_bucket')
    return found.map((line) => line.match(/le="([^"]+)"/)?.[1])
  }
  expect(await bounds('kubernetes')).toEqual([
    ...['1e-08', '1e-07', '1e-06', '9.999999999999999e-06', '9.999999999999999e-05'],
    ...['0.001', '0.01', '0.1', '1', '10', '+Inf'],
  ])
  expect((await bounds('controller-runtime')).slice(-3)).toEqual(['100', '1000', '+Inf'])
  expect((await bounds('tidy')).slice(0, 3)).toEqual(['0.001', '0.0025', '0.005'])
  expect(await bounds([0.0001, 123_456, 1_234_567, 20_000_000])).toEqual([
    ...['0.0001', '123456', '1.234567e+06', '2e+07', '+Inf'],
  ])
})

test('the gauges of queues with one controller label are added up', async () => {
  const { clock, register, driver, queue } = setUp({ controllers: { mails: 'orders' } })
  const mails = new StagedQueue(clock, driver, 'mails', 'there')
  const gauges = async () => [
    ...(await lines(register, 'controller_runtime_max_concurrent_reconciles')),
    ...(await lines(register, 'controller_runtime_active_workers')),
  ]
  const shown = (concurrency: number, active: number) => [
    `controller_runtime_max_concurrent_reconciles{controller="orders"} ${concurrency}`,
    `controller_runtime_active_workers{controller="orders"} ${active}`,
  ]
  queue.add('a')
  mails.add('a')
  const end = queue.run(1, 3)
  mails.run(2, 2)
  expect(await gauges()).toEqual(shown(5, 2))
  end({})
  expect(await gauges()).toEqual(shown(5, 1))
  mails.notice('closed')
  await gauges()
  await gauges()
  expect(await gauges()).toEqual(shown(3, 0))
})

test('without controller-runtime, its names are free', async () => {
  const { register, queue } = setUp({ controllerRuntime: false })
  queue.add('a')
  queue.run(1, 1)({})
  expect(await register.metrics()).not.toContain('controller_runtime_')
  expect(await lines(register, 'workqueue_adds_total')).toEqual([
    'workqueue_adds_total{name="orders",controller="orders"} 1',
  ])
  queue.done('a', queue.claim('a'))
  expect(await lines(register, 'workqueue_work_duration_seconds_count')).toEqual([
    'workqueue_work_duration_seconds_count{name="orders",controller="orders"} 1',
  ])
})

test('the time of a reconciliation has the buckets of controller-runtime', async () => {
  const { register, queue } = setUp({ buckets: [1, 2] })
  queue.add('a')
  queue.run(1, 1)({})
  const boundsOf = async (name: string) =>
    (await lines(register, `${name}_bucket`)).map((line) => /le="([^"]+)"/.exec(line)?.[1])
  expect(await boundsOf('workqueue_work_duration_seconds')).toEqual(['1', '2', '+Inf'])
  const bounds = await boundsOf('controller_runtime_reconcile_time_seconds')
  expect(bounds.slice(0, 3)).toEqual(['0.005', '0.01', '0.025'])
  expect(bounds).toHaveLength(41)
})

test('a registry that has one of the names already gets none of them', async () => {
  const register = new Registry()
  const name = 'controller_runtime_active_workers'
  const own = new Gauge({ name, help: 'mine', registers: [register] })
  expect(() => prometheusMetrics({ register })).toThrow(name)
  expect(register.getMetricsAsArray()).toEqual([own])
  await prometheusMetrics({ register, controllerRuntime: false }).close()
})

test('closing takes the metrics out, and the same registry can have them again', async () => {
  const { register, metrics, queue, clock } = setUp()
  queue.add('a')
  await metrics.close()
  expect(await register.metrics()).toBe('\n')
  expect(sluiceChannel.hasSubscribers).toBe(false)
  const again = prometheusMetrics({ register, clock })
  queue.add('b')
  expect(await lines(register, 'workqueue_adds_total')).toHaveLength(1)
  await again.close()
})

test('closing leaves what has come into the registry since', async () => {
  const { register, metrics, queue, clock } = setUp()
  await metrics.close()
  const again = prometheusMetrics({ register, clock })
  await metrics.close()
  queue.add('a')
  expect(await lines(register, 'workqueue_adds_total')).toHaveLength(1)

  register.clear()
  const own = new Gauge({ name: 'workqueue_depth', help: 'mine', registers: [register] })
  await again.close()
  expect(register.getMetricsAsArray()).toEqual([own])
})

test.skipIf(!needs('promtool', hasPromtool))('promtool finds nothing to say', async () => {
  const { register, queue } = setUp()
  queue.add('a')
  queue.done('a', queue.claim('a'))
  const input = await register.metrics()
  expect(execFileSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('')
})

test.each([
  [undefined, 'register'],
  [null, 'register'],
  [5, 'register'],
  [{}, 'register.getSingleMetric'],
  [{ getSingleMetric() {} }, 'register.registerMetric'],
  [{ getSingleMetric() {}, registerMetric() {} }, 'register.removeSingleMetric'],
])('%o is no registry: %s', (register, parameter) => {
  expect(() => prometheusMetrics({ register: register as never })).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }),
  )
})
