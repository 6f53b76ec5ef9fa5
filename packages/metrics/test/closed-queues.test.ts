import { fakeClock } from '@sluice/core/testing'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { type PrometheusOptions, prometheusMetrics } from '../src/prometheus.ts'
import { StagedQueue, storeDriver } from './stage.ts'

function setUp(options: Partial<PrometheusOptions> = {}) {
  const clock = fakeClock(0)
  const register = new Registry()
  const driver = storeDriver(clock)
  const metrics = prometheusMetrics({ register, clock, ...options })
  onTestFinished(async () => {
    await metrics.close()
  })
  const useOnce = (name: string): void => {
    const queue = new StagedQueue(clock, driver, name, `holder of ${name}`)
    queue.add('a')
    queue.done('a', queue.claim('a'))
    queue.notice('closed')
  }
  return { clock, register, driver, useOnce }
}

/** The names of queues that are exported, by any metric. */
async function namesIn(register: Registry): Promise<string[]> {
  const labels = (await register.metrics()).matchAll(/(?:name|controller)="([^"]+)"/g)
  return [...new Set([...labels].map(([, name]) => name!))].sort()
}

test('a queue that was closed is exported once more with its last values, and then no longer', async () => {
  const { clock, driver, register, useOnce } = setUp()
  const open = new StagedQueue(clock, driver, 'open')
  open.add('a')
  expect(await namesIn(register)).toEqual(['open'])
  for (const name of ['one', 'two']) useOnce(name)
  const last = await register.metrics()
  for (const name of ['one', 'two']) {
    expect(last).toContain(`workqueue_adds_total{name="${name}",controller="${name}"} 1`)
    expect(last).toContain(`workqueue_depth{name="${name}",controller="${name}",priority="0"} 0`)
  }
  await register.metrics()
  expect(await namesIn(register)).toEqual(['open'])
})

test('a queue that is opened again before that goes on, and afterwards begins at 0', async () => {
  const { register, useOnce } = setUp()
  const adds = async (): Promise<string | undefined> =>
    (await register.metrics()).match(/workqueue_adds_total\{name="q",controller="q"\} (\d+)/)?.[1]
  useOnce('q')
  expect(await adds()).toBe('1')
  useOnce('q')
  expect(await adds()).toBe('2')
  await adds()
  expect(await adds()).toBeUndefined()
  useOnce('q')
  const again = await register.metrics()
  expect(again).toContain('workqueue_adds_total{name="q",controller="q"} 1')
  // Also what nothing was observed of since.
  expect(again).toContain('workqueue_rate_limiter_delay_seconds_count{name="q",controller="q"} 0')
})

test('a total that two queues share does not fall when one of them is dropped', async () => {
  const { clock, driver, register } = setUp({ controllers: { one: 'c', two: 'c' } })
  const [one, two] = ['one', 'two'].map((name) => new StagedQueue(clock, driver, name, name))
  const failures = async (): Promise<string | undefined> =>
    (await register.metrics()).match(/reconcile_errors_total\{controller="c"\} (\d+)/)?.[1]
  for (const queue of [one!, two!]) queue.run(queue.claim('a'), 1)({ result: 'error' })
  one!.notice('closed')
  const read = [await failures(), await failures(), await failures()]
  expect(read).toEqual(['2', '2', '2'])
})

test('queues that are asked for by name stay', async () => {
  const { register, useOnce } = setUp({ queues: ['q'] })
  useOnce('q')
  for (let reads = 0; reads < 4; reads += 1) expect(await namesIn(register)).toEqual(['q'])
})

test('a series that two queues share is dropped with the last of them', async () => {
  const { clock, driver, register, useOnce } = setUp({ controllers: { one: 'c', two: 'c' } })
  const two = new StagedQueue(clock, driver, 'two')
  two.add('a')
  useOnce('one')
  for (let reads = 0; reads < 3; reads += 1) await register.metrics()
  expect(await register.metrics()).toContain('controller_runtime_active_workers{controller="c"} 0')
  expect(await namesIn(register)).toEqual(['c', 'two'])
  two.notice('closed')
  for (let reads = 0; reads < 3; reads += 1) await register.metrics()
  expect(await namesIn(register)).toEqual([])
})

test('thousands of closed queues that are never read are dropped too, and stay in shared totals', async () => {
  const names = Array.from({ length: 1_300 }, (_, n) => `tenant ${n}`)
  const controllers = Object.fromEntries(['open', ...names].map((name) => [name, 'c']))
  const { clock, driver, register } = setUp({ controllers })
  for (const name of ['open', ...names]) {
    const queue = new StagedQueue(clock, driver, name, name)
    queue.run(queue.claim('a'), 1)({ result: 'error' })
    if (name !== 'open') queue.notice('closed')
  }
  expect((await namesIn(register)).length).toBeLessThanOrEqual(1_000)
  expect(await register.metrics()).toContain('reconcile_errors_total{controller="c"} 1301')
})
