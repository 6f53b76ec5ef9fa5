/** The kind of instrument of a metric. */
export type MetricKind = 'counter' | 'gauge' | 'histogram'

/** A label of a metric. No label is a key: there are too many of them. */
export type LabelName = 'name' | 'controller' | 'priority' | 'reason' | 'result'

/** The id of a metric in this package. */
export type MetricId =
  | 'depth'
  | 'adds'
  | 'queueDuration'
  | 'workDuration'
  | 'unfinishedWork'
  | 'longestRunning'
  | 'retries'
  | 'delayedItems'
  | 'limiterDelay'
  | 'parkedItems'
  | 'oldestReadyAge'
  | 'deduplicated'
  | 'leaseExpirations'
  | 'reconcileTotal'
  | 'reconcileErrors'
  | 'terminalErrors'
  | 'reconcilePanics'
  | 'reconcileTimeouts'
  | 'reconcileTime'
  | 'maxConcurrent'
  | 'activeWorkers'

/** One metric, as every exporter shows it. */
export interface MetricRow {
  /** The name, with its unit, exactly as Prometheus shows it. */
  readonly name: string
  readonly kind: MetricKind
  readonly labels: readonly LabelName[]
  /** The help text; the original's where there is one. */
  readonly help: string
  /** The origin: one of the original projects, or requests of their users. */
  readonly family: 'client-go' | 'controller-runtime' | 'sluice'
  /**
   * The scope: events of the process, or the state of the store, which one process exports and the
   * others show as 0.
   */
  readonly scope: 'process' | 'store'
}

const queue: readonly LabelName[] = ['name', 'controller']
const controller: readonly LabelName[] = ['controller']

/** Every metric of Sluice. The Prometheus and OpenTelemetry adapters are both made from this. */
export const metricTable: Readonly<Record<MetricId, MetricRow>> = {
  depth: {
    name: 'workqueue_depth',
    kind: 'gauge',
    labels: ['name', 'controller', 'priority'],
    help: 'Current depth of workqueue by workqueue and priority',
    family: 'client-go',
    scope: 'store',
  },
  adds: {
    name: 'workqueue_adds_total',
    kind: 'counter',
    labels: queue,
    help: 'Total number of adds handled by workqueue',
    family: 'client-go',
    scope: 'process',
  },
  queueDuration: {
    name: 'workqueue_queue_duration_seconds',
    kind: 'histogram',
    labels: queue,
    help: 'How long in seconds an item stays in workqueue before being requested.',
    family: 'client-go',
    scope: 'process',
  },
  workDuration: {
    name: 'workqueue_work_duration_seconds',
    kind: 'histogram',
    labels: queue,
    help: 'How long in seconds processing an item from workqueue takes.',
    family: 'client-go',
    scope: 'process',
  },
  unfinishedWork: {
    name: 'workqueue_unfinished_work_seconds',
    kind: 'gauge',
    labels: queue,
    help:
      "How many seconds of work has done that is in progress and hasn't been observed by " +
      'work_duration. Large values indicate stuck threads. One can deduce the number of stuck ' +
      'threads by observing the rate at which this increases.',
    family: 'client-go',
    scope: 'process',
  },
  longestRunning: {
    name: 'workqueue_longest_running_processor_seconds',
    kind: 'gauge',
    labels: queue,
    help: 'How many seconds has the longest running processor for workqueue been running.',
    family: 'client-go',
    scope: 'process',
  },
  retries: {
    name: 'workqueue_retries_total',
    kind: 'counter',
    labels: queue,
    help: 'Total number of retries handled by workqueue',
    family: 'client-go',
    scope: 'process',
  },
  delayedItems: {
    name: 'workqueue_delayed_items',
    kind: 'gauge',
    labels: ['name', 'controller', 'reason'],
    help: 'Current number of items that wait for a requested delay, or for a back-off.',
    family: 'sluice',
    scope: 'store',
  },
  limiterDelay: {
    name: 'workqueue_rate_limiter_delay_seconds',
    kind: 'histogram',
    labels: queue,
    help: 'How long in seconds the rate limiter makes failed items wait.',
    family: 'sluice',
    scope: 'process',
  },
  parkedItems: {
    name: 'workqueue_parked_items',
    kind: 'gauge',
    labels: queue,
    help: 'Current number of items that are parked and do not run until they are unparked.',
    family: 'sluice',
    scope: 'store',
  },
  oldestReadyAge: {
    name: 'workqueue_oldest_ready_age_seconds',
    kind: 'gauge',
    labels: queue,
    help: 'How long in seconds the oldest ready item has been ready.',
    family: 'sluice',
    scope: 'store',
  },
  deduplicated: {
    name: 'workqueue_deduplicated_total',
    kind: 'counter',
    labels: queue,
    help: 'Total number of adds that were merged into one already pending.',
    family: 'sluice',
    scope: 'process',
  },
  leaseExpirations: {
    name: 'workqueue_lease_expirations_total',
    kind: 'counter',
    labels: queue,
    help: 'Total number of leases that have expired.',
    family: 'sluice',
    scope: 'process',
  },
  reconcileTotal: {
    name: 'controller_runtime_reconcile_total',
    kind: 'counter',
    labels: ['controller', 'result'],
    help: 'Total number of reconciliations per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  reconcileErrors: {
    name: 'controller_runtime_reconcile_errors_total',
    kind: 'counter',
    labels: controller,
    help: 'Total number of reconciliation errors per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  terminalErrors: {
    name: 'controller_runtime_terminal_reconcile_errors_total',
    kind: 'counter',
    labels: controller,
    help: 'Total number of terminal reconciliation errors per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  reconcilePanics: {
    name: 'controller_runtime_reconcile_panics_total',
    kind: 'counter',
    labels: controller,
    help: 'Total number of reconciliation panics per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  reconcileTimeouts: {
    name: 'controller_runtime_reconcile_timeouts_total',
    kind: 'counter',
    labels: controller,
    help: 'Total number of reconciliation timeouts per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  reconcileTime: {
    name: 'controller_runtime_reconcile_time_seconds',
    kind: 'histogram',
    labels: controller,
    help: 'Length of time per reconciliation per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  maxConcurrent: {
    name: 'controller_runtime_max_concurrent_reconciles',
    kind: 'gauge',
    labels: controller,
    help: 'Maximum number of concurrent reconciles per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
  activeWorkers: {
    name: 'controller_runtime_active_workers',
    kind: 'gauge',
    labels: controller,
    help: 'Number of currently used workers per controller',
    family: 'controller-runtime',
    scope: 'process',
  },
}

/** The ids of all metrics, in the order of the table. */
export const metricIds: readonly MetricId[] = Object.keys(metricTable) as MetricId[]
