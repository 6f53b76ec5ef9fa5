import { metrics } from '@opentelemetry/api'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { sluiceChannel } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { metricIds, metricTable } from '../src/index.ts'
import { openTelemetryMetrics } from '../src/opentelemetry.ts'
import { prometheusMetrics } from '../src/prometheus.ts'
import { noCounts, SharedStore, StagedQueue, storeDriver } from './stage.ts'

/** Collects when it is told to. */
class HandReader extends MetricReader {
  protected onShutdown(): Promise<void> {
    return Promise.resolve()
  }
  protected onForceFlush(): Promise<void> {
    return Promise.resolve()
  }
  async text(): Promise<string> {
    const { resourceMetrics } = await this.collect()
    return new PrometheusSerializer().serialize(resourceMetrics)
  }
}

function setUp(capabilities: object = {}) {
  const clock = fakeClock(0)
  const store = new SharedStore()
  const driver = storeDriver(clock, store, capabilities)
  const reader = new HandReader()
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  const exported = openTelemetryMetrics({ meter, clock })
  onTestFinished(async () => {
    await exported.close()
  })
  return { clock, store, driver, reader, exported, queue: new StagedQueue(clock, driver, 'orders') }
}

/** The names of series, without those that only the exporter has. */
function namesIn(text: string): Set<string> {
  const names = text.matchAll(/^(workqueue_\w+|controller_runtime_\w+)\{/gm)
  return new Set([...names].map(([, name = '']) => name))
}

test('through the Prometheus exporter of OpenTelemetry, every name is what prom-client shows', async () => {
  const { clock, reader, queue } = setUp()
  const register = new Registry()
  const direct = prometheusMetrics({ register, clock })
  queue.add('a')
  const token = queue.claim('a')
  queue.run(token, 2)({ result: 'error' })
  queue.finish({ as: 'retry', key: 'a', token, delayMs: 5 }, { outcome: 'delayed', dueAt: 5 })
  const names = namesIn(await reader.text())
  expect(names).toEqual(namesIn(await register.metrics()))
  for (const id of metricIds) {
    const { name, kind } = metricTable[id]
    expect(names).toContain(kind === 'histogram' ? `${name}_bucket` : name)
  }
  await direct.close()
})

test('what the store says is read when metrics are collected', async () => {
  const { reader, queue, store } = setUp({ shared: true, durable: true })
  queue.add('a')
  expect(store.reads).toBe(0)
  store.counts = { ...noCounts, ready: 5, backoff: 2 }
  const text = await reader.text()
  expect(text).toMatch(/^workqueue_depth\{name="orders",controller="orders",priority="".*\} 5$/m)
  expect(text).toMatch(/^workqueue_delayed_items\{.*reason="backoff".*\} 2$/m)
  expect(store.reads).toBe(1)
})

test('after closing, nothing is observed any more', async () => {
  const { reader, queue, exported } = setUp()
  queue.add('a')
  await exported.close()
  expect(await reader.text()).not.toMatch(/^workqueue_depth\{/m)
  expect(sluiceChannel.hasSubscribers).toBe(false)
})

test('what is counted begins at 0, rises and falls by one', async () => {
  const { reader, queue } = setUp()
  queue.add('a')
  queue.add('b')
  queue.run(queue.claim('a'), 2)({})
  const text = await reader.text()
  expect(text).toMatch(/^workqueue_adds_total\{.*\} 2$/m)
  expect(text).toMatch(/^workqueue_depth\{.*\} 1$/m)
  expect(text).toMatch(/^controller_runtime_active_workers\{.*\} 0$/m)
  expect(text).toMatch(/^controller_runtime_reconcile_errors_total\{.*\} 0$/m)
})

test('without a meter of your own, the scope has the name and the version of this package', async () => {
  const reader = new HandReader()
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }))
  onTestFinished(() => metrics.disable())
  const clock = fakeClock(0)
  const exported = openTelemetryMetrics({ clock })
  onTestFinished(() => exported.close())
  new StagedQueue(clock, storeDriver(clock), 'orders').add('a')
  const { resourceMetrics } = await reader.collect()
  expect(resourceMetrics.scopeMetrics.map(({ scope }) => scope)).toEqual([
    expect.objectContaining({
      name: '@sluice/metrics',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    }),
  ])
})

test('the gauges of a closed queue end, and are there again when it is opened again', async () => {
  const { clock, driver } = setUp()
  // Readers of totals go on with the last value of a series that has ended.
  const aggregationTemporalitySelector = () => AggregationTemporality.DELTA
  const reader = new HandReader({ aggregationTemporalitySelector })
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  const exported = openTelemetryMetrics({ meter, clock })
  onTestFinished(() => exported.close())
  const gauges = async () =>
    [...(await reader.text()).matchAll(/^(\w+)\{.*controller="again"/gm)]
      .map(([, name = '']) => name)
      .filter((name) => /_depth$|_active_workers$|_max_concurrent_reconciles$/.test(name))
      .sort()
  const all = [
    'controller_runtime_active_workers',
    'controller_runtime_max_concurrent_reconciles',
    'workqueue_depth',
  ]
  for (const holder of ['first', 'second']) {
    const queue = new StagedQueue(clock, driver, 'again', holder)
    queue.add('a')
    expect(await gauges()).toEqual(all)
    queue.notice('closed')
    for (let reads = 0; reads < 2; reads += 1) await reader.text()
    expect(await gauges()).toEqual([])
  }
})

test.each([
  [null, 'meter'],
  [5, 'meter'],
  [{}, 'meter.createCounter'],
  [{ createCounter() {} }, 'meter.createHistogram'],
  [{ createCounter() {}, createHistogram() {} }, 'meter.createObservableGauge'],
  [
    { createCounter() {}, createHistogram() {}, createObservableGauge() {} },
    'meter.addBatchObservableCallback',
  ],
])('%o is no meter: %s', (meter, parameter) => {
  expect(() => openTelemetryMetrics({ meter: meter as never })).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }),
  )
})

test('the gauges of queues with one controller label are added up', async () => {
  const { clock, driver } = setUp()
  const reader = new HandReader()
  const meter = new MeterProvider({ readers: [reader] }).getMeter('test')
  const exported = openTelemetryMetrics({ meter, clock, controllers: { a: 'shop', b: 'shop' } })
  onTestFinished(() => exported.close())
  for (const [index, name] of ['a', 'b'].entries()) {
    const queue = new StagedQueue(clock, driver, name, name)
    queue.add('key')
    queue.run(index, 2)
  }
  const text = await reader.text()
  expect(text).toMatch(/controller_runtime_max_concurrent_reconciles\{controller="shop".*\} 4$/m)
  expect(text).toMatch(/controller_runtime_active_workers\{controller="shop".*\} 2$/m)
})
