import type { FakeClock } from '@sluice/core/testing'
import { prometheusMetrics } from '@sluice/metrics/prometheus'
import { Registry } from 'prom-client'
import type { Driver, Queue } from 'sluice'
import { onTestFinished } from 'vitest'

/** The series of a registry, by name and labels without those that every queue has. */
async function seriesOf(register: Registry): Promise<Map<string, number>> {
  const text = await register.metrics()
  const series = new Map<string, number>()
  for (const line of text.split('\n')) {
    const found = line.match(/^(\w+)\{(.*)\} (\S+)$/)
    if (found === null) continue
    const [, name = '', labels = '', value] = found
    const rest = labels.split(',').filter((label) => !/^(name|controller)=/.test(label))
    series.set([name, ...rest].join(' '), Number(value))
  }
  return series
}

/** Exports the metrics of a process to a registry of its own, until the test has finished. */
export function exportMetrics(clock: FakeClock, driver?: Driver, queues?: readonly string[]) {
  const register = new Registry()
  const metrics = prometheusMetrics({
    register,
    clock,
    ...(driver === undefined ? {} : { driver }),
    ...(queues === undefined ? {} : { queues }),
  })
  onTestFinished(() => metrics.close())
  return {
    metrics,
    read: async (name: string) => (await seriesOf(register)).get(name),
    all: () => seriesOf(register),
  }
}

/** Closes a queue whose keys are given the time of a given clock. */
export async function closed(queue: Queue<string>, clock: FakeClock): Promise<void> {
  const closing = queue.close()
  await clock.step(60_000)
  await closing
}

export const storeDepth = 'workqueue_depth priority=""'
export const adds = 'workqueue_adds_total'
export const waited = 'workqueue_queue_duration_seconds_sum'
