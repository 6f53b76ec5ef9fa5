import { GaugeSum } from './gauge-sum.ts'
import { type MetricId, metricTable } from './names.ts'
import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  MetricsProvider,
  SettableGaugeMetric,
} from './provider.ts'

/** The labels of one series. */
export type Labels = Readonly<Record<string, string>>

/** A series or metric that is no longer exported after `drop`. */
export interface Series {
  drop(): void
}

/** Creates series of the metrics in the table; each begins at 0. */
export interface SeriesFactory {
  counter(id: MetricId, labels: Labels): CounterMetric & Series
  gauge(id: MetricId, labels: Labels): GaugeMetric & SettableGaugeMetric & Series
  histogram(id: MetricId, labels: Labels): HistogramMetric & Series
}

/** The naming options of all adapters. */
export interface NamingOptions {
  /** The label `controller` of queues for which it differs from the name. */
  readonly controllers?: Readonly<Record<string, string>> | undefined
  /** Whether controller-runtime's own metrics are exported too. Default true. */
  readonly controllerRuntime?: boolean | undefined
}

/** The results of a reconciliation, in the words of controller-runtime. */
const results = ['success', 'error', 'requeue', 'requeue_after'] as const

/** The provider whose metrics are those of the table. */
export function tableProvider(
  series: SeriesFactory,
  { controllers = {}, controllerRuntime = true }: NamingOptions,
): MetricsProvider {
  const controllerOf = (name: string): string =>
    Object.hasOwn(controllers, name) ? (controllers[name] as string) : name
  /** The labels of a metric, out of all labels of a queue. */
  const labelsOf = (id: MetricId, name: string, more: Labels = {}): Labels => {
    const all: Labels = { name, controller: controllerOf(name), ...more }
    return Object.fromEntries(metricTable[id].labels.map((label) => [label, all[label] ?? '']))
  }
  const made = new Map<string, Series[]>()
  const sums = new Map<string, GaugeSum>()
  const kept = <Made extends Series>(name: string, one: Made): Made => {
    const others = made.get(name)
    if (others === undefined) made.set(name, [one])
    else others.push(one)
    return one
  }
  const counter = (id: MetricId, name: string, more?: Labels) =>
    kept(name, series.counter(id, labelsOf(id, name, more)))
  const gauge = (id: MetricId, name: string, more?: Labels) =>
    kept(name, series.gauge(id, labelsOf(id, name, more)))
  const histogram = (id: MetricId, name: string) =>
    kept(name, series.histogram(id, labelsOf(id, name)))
  /** A gauge without the name of the queue: queues with the same controller label add up. */
  const gaugeOfController = (id: MetricId, name: string) => {
    const labels = labelsOf(id, name)
    const key = JSON.stringify([id, labels])
    const sum = sums.get(key) ?? new GaugeSum(series.gauge(id, labels), () => sums.delete(key))
    sums.set(key, sum)
    return kept(name, sum.part())
  }
  const depth = (name: string, priority: string) => gauge('depth', name, { priority })

  return {
    // The series without a priority is created when it is needed: most queues count by priority.
    newDepthMetric(name) {
      let made: ReturnType<typeof depth> | undefined
      const metric = () => {
        made ??= depth(name, '')
        return made
      }
      return {
        inc: () => metric().inc(),
        dec: () => metric().dec(),
        set: (value) => metric().set(value),
      }
    },
    newPriorityDepthMetric(name) {
      const made = new Map<string, ReturnType<typeof depth>>()
      const metric = (priority: string) => {
        const known = made.get(priority) ?? depth(name, priority)
        made.set(priority, known)
        return known
      }
      return {
        inc: (priority) => metric(priority).inc(),
        dec: (priority) => metric(priority).dec(),
      }
    },
    newAddsMetric: (name) => counter('adds', name),
    newLatencyMetric: (name) => histogram('queueDuration', name),
    newWorkDurationMetric: (name) => histogram('workDuration', name),
    newUnfinishedWorkSecondsMetric: (name) => gauge('unfinishedWork', name),
    newLongestRunningProcessorSecondsMetric: (name) => gauge('longestRunning', name),
    newRetriesMetric: (name) => counter('retries', name),
    newDelayedItemsMetric: (name, reason) => gauge('delayedItems', name, { reason }),
    newRateLimiterDelayMetric: (name) => histogram('limiterDelay', name),
    newParkedItemsMetric: (name) => gauge('parkedItems', name),
    newOldestReadyAgeMetric: (name) => gauge('oldestReadyAge', name),
    newDeduplicatedMetric: (name) => counter('deduplicated', name),
    newLeaseExpirationsMetric: (name) => counter('leaseExpirations', name),
    forgetQueue(name) {
      for (const one of made.get(name) ?? []) one.drop()
      made.delete(name)
    },
    ...(controllerRuntime
      ? {
          newReconcileMetrics(name: string) {
            const totals = new Map<string, CounterMetric>()
            for (const result of results) {
              totals.set(result, counter('reconcileTotal', name, { result }))
            }
            counter('reconcilePanics', name)
            return {
              total: { inc: (result: string) => totals.get(result)?.inc() },
              errors: counter('reconcileErrors', name),
              terminalErrors: counter('terminalErrors', name),
              timeouts: counter('reconcileTimeouts', name),
              time: histogram('reconcileTime', name),
              maxConcurrent: gaugeOfController('maxConcurrent', name),
              activeWorkers: gaugeOfController('activeWorkers', name),
            }
          },
        }
      : {}),
  }
}
