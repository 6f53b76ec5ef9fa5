/** A gauge that goes up and down by one. */
export interface GaugeMetric {
  inc(): void
  dec(): void
}

/** A gauge that is set. */
export interface SettableGaugeMetric {
  set(value: number): void
}

/** A count that only rises. */
export interface CounterMetric {
  /** Adds `by`; 1 by default. */
  inc(by?: number): void
}

/** Collects values, exported as counts by upper bound. */
export interface HistogramMetric {
  observe(value: number): void
}

/** A depth for each priority. */
export interface PriorityDepthMetric {
  inc(priority: string): void
  dec(priority: string): void
}

/** The metrics of controller-runtime for one controller. */
export interface ReconcileMetrics {
  /** By result: `success`, `error`, `requeue` or `requeue_after`. */
  readonly total: { inc(result: string): void }
  readonly errors: CounterMetric
  readonly terminalErrors: CounterMetric
  readonly timeouts: CounterMetric
  /** In seconds. */
  readonly time: HistogramMetric
  readonly maxConcurrent: SettableGaugeMetric
  readonly activeWorkers: SettableGaugeMetric
}

/**
 * Creates the metrics of a queue, by the queue's name: client-go's `MetricsProvider`, method by
 * method, plus the additional metrics of Sluice. Times are in seconds.
 *
 * There is no global provider. Each recorder has its own, so that two cannot take over each other's
 * queues. The required methods are called once for each queue, until its record is dropped.
 */
export interface MetricsProvider {
  /** Can also be set, because the depth of a shared store is read and not counted. */
  newDepthMetric(name: string): GaugeMetric & SettableGaugeMetric
  newAddsMetric(name: string): CounterMetric
  newLatencyMetric(name: string): HistogramMetric
  newWorkDurationMetric(name: string): HistogramMetric
  newUnfinishedWorkSecondsMetric(name: string): SettableGaugeMetric
  newLongestRunningProcessorSecondsMetric(name: string): SettableGaugeMetric
  newRetriesMetric(name: string): CounterMetric

  /** If absent, the depth is one number for all priorities. */
  newPriorityDepthMetric?(name: string): PriorityDepthMetric
  newDelayedItemsMetric?(name: string, reason: 'delay' | 'backoff'): SettableGaugeMetric
  newRateLimiterDelayMetric?(name: string): HistogramMetric
  newParkedItemsMetric?(name: string): SettableGaugeMetric
  newOldestReadyAgeMetric?(name: string): SettableGaugeMetric
  newDeduplicatedMetric?(name: string): CounterMetric
  newLeaseExpirationsMetric?(name: string): CounterMetric
  newReconcileMetrics?(name: string): ReconcileMetrics

  /**
   * The queue was closed, and its metrics have been read since: they are no longer exported.
   * If a queue of that name is opened again, new metrics are made, which begin at 0.
   */
  forgetQueue?(name: string): void
}
