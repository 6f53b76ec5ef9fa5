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
  /** Counts `by` more; 1 if left out. */
  inc(by?: number): void
}

/** Collects values, to be shown by how many are below certain bounds. */
export interface HistogramMetric {
  observe(value: number): void
}

/** A depth that is kept for each priority. */
export interface PriorityDepthMetric {
  inc(priority: string): void
  dec(priority: string): void
}

/** What controller-runtime measures of one controller. */
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
 * Makes the metrics of a queue, by the queue's name: client-go's `MetricsProvider`, method by
 * method, and what Sluice measures beyond it. Times are in seconds.
 *
 * There is no global provider. Each recorder has its own, so that two never take each other's
 * queues away. The methods without a question mark are called once for each queue, until it is
 * forgotten.
 */
export interface MetricsProvider {
  /** Also set as a whole, where the depth is read from a store that several processes share. */
  newDepthMetric(name: string): GaugeMetric & SettableGaugeMetric
  newAddsMetric(name: string): CounterMetric
  newLatencyMetric(name: string): HistogramMetric
  newWorkDurationMetric(name: string): HistogramMetric
  newUnfinishedWorkSecondsMetric(name: string): SettableGaugeMetric
  newLongestRunningProcessorSecondsMetric(name: string): SettableGaugeMetric
  newRetriesMetric(name: string): CounterMetric

  /** Left out: the depth is one number for all priorities. */
  newPriorityDepthMetric?(name: string): PriorityDepthMetric
  newDelayedItemsMetric?(name: string, reason: 'delay' | 'backoff'): SettableGaugeMetric
  newRateLimiterDelayMetric?(name: string): HistogramMetric
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
