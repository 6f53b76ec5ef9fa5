import type {
  CounterMetric,
  GaugeMetric,
  MetricsProvider,
  PriorityDepthMetric,
  ReconcileMetrics,
  SettableGaugeMetric,
} from './provider.ts'
import { QueueSeries } from './queue-series.ts'
import type { SeriesFactory } from './series.ts'

/** The naming options of all adapters. */
export interface NamingOptions {
  /** The label `controller` of queues for which it differs from the name. Default: the name. */
  readonly controllers?: Readonly<Record<string, string>> | undefined
  /** Whether controller-runtime's own metrics are exported too. Default true. */
  readonly controllerRuntime?: boolean | undefined
}

/** The results of a reconciliation, in the words of controller-runtime. */
const results = ['success', 'error', 'requeue', 'requeue_after'] as const

/** The provider whose metrics are those of the table. */
export function tableProvider(
  factory: SeriesFactory,
  { controllers = {}, controllerRuntime = true }: NamingOptions,
): MetricsProvider {
  const series = new QueueSeries(factory, controllers)
  const reconcile = { newReconcileMetrics: (name: string) => reconcileMetrics(series, name) }
  return {
    newDepthMetric: (name) => depthMetric(series, name),
    newPriorityDepthMetric: (name) => priorityDepthMetric(series, name),
    newAddsMetric: (name) => series.counter('adds', name),
    newLatencyMetric: (name) => series.histogram('queueDuration', name),
    newWorkDurationMetric: (name) => series.histogram('workDuration', name),
    newUnfinishedWorkSecondsMetric: (name) => series.gauge('unfinishedWork', name),
    newLongestRunningProcessorSecondsMetric: (name) => series.gauge('longestRunning', name),
    newRetriesMetric: (name) => series.counter('retries', name),
    newDelayedItemsMetric: (name, reason) => series.gauge('delayedItems', name, { reason }),
    newRateLimiterDelayMetric: (name) => series.histogram('limiterDelay', name),
    newParkedItemsMetric: (name) => series.gauge('parkedItems', name),
    newOldestReadyAgeMetric: (name) => series.gauge('oldestReadyAge', name),
    newDeduplicatedMetric: (name) => series.counter('deduplicated', name),
    newLeaseExpirationsMetric: (name) => series.counter('leaseExpirations', name),
    forgetQueue: (name) => series.drop(name),
    ...(controllerRuntime ? reconcile : {}),
  }
}

/** The series without a priority is created when it is needed: most queues count by priority. */
function depthMetric(series: QueueSeries, name: string): GaugeMetric & SettableGaugeMetric {
  let made: (GaugeMetric & SettableGaugeMetric) | undefined
  const gauge = () => {
    made ??= series.gauge('depth', name, { priority: '' })
    return made
  }
  return {
    inc: () => gauge().inc(),
    dec: () => gauge().dec(),
    set: (value) => gauge().set(value),
  }
}

function priorityDepthMetric(series: QueueSeries, name: string): PriorityDepthMetric {
  const made = new Map<string, GaugeMetric>()
  const gauge = (priority: string) => {
    const known = made.get(priority) ?? series.gauge('depth', name, { priority })
    made.set(priority, known)
    return known
  }
  return {
    inc: (priority) => gauge(priority).inc(),
    dec: (priority) => gauge(priority).dec(),
  }
}

function reconcileMetrics(series: QueueSeries, name: string): ReconcileMetrics {
  const totals = new Map<string, CounterMetric>()
  for (const result of results) {
    totals.set(result, series.counter('reconcileTotal', name, { result }))
  }
  series.counter('reconcilePanics', name)
  return {
    total: { inc: (result) => totals.get(result)?.inc() },
    errors: series.counter('reconcileErrors', name),
    terminalErrors: series.counter('terminalErrors', name),
    timeouts: series.counter('reconcileTimeouts', name),
    time: series.histogram('reconcileTime', name),
    maxConcurrent: series.gaugeOfController('maxConcurrent', name),
    activeWorkers: series.gaugeOfController('activeWorkers', name),
  }
}
