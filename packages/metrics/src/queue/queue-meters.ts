import type { RunResult } from '@sluice/core'
import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  MetricsProvider,
  PriorityDepthMetric,
  ReconcileMetrics,
  SettableGaugeMetric,
} from '../provider/provider.ts'
import { secondsOf } from '../provider/seconds.ts'
import { PriorityLabels } from './priority-labels.ts'

const nothing = (): void => {}
const noCounter: CounterMetric = { inc: nothing }
const noHistogram: HistogramMetric = { observe: nothing }
const noGauge: SettableGaugeMetric = { set: nothing }

/** The state of one queue in the store. */
export interface StoreGauges {
  /** `undefined`: the depth is counted here, from events. */
  readonly depth: number | undefined
  readonly delayed: number
  readonly backoff: number
  readonly parked: number
  readonly oldestReadyAgeMs: number
}

/** Every metric of one queue name, whether or not the provider has it. */
export class QueueMeters {
  readonly adds: CounterMetric
  readonly latency: HistogramMetric
  readonly workDuration: HistogramMetric
  readonly unfinished: SettableGaugeMetric
  readonly longest: SettableGaugeMetric
  readonly retries: CounterMetric
  readonly limiterDelay: HistogramMetric
  readonly deduplicated: CounterMetric
  readonly leaseExpirations: CounterMetric
  readonly #depth: GaugeMetric & SettableGaugeMetric
  readonly #priorityDepth: PriorityDepthMetric | undefined
  readonly #labels = new PriorityLabels()
  readonly #delayed: SettableGaugeMetric
  readonly #backoff: SettableGaugeMetric
  readonly #parked: SettableGaugeMetric
  readonly #oldestReadyAge: SettableGaugeMetric
  readonly #reconcile: ReconcileMetrics | undefined
  #active = 0

  constructor(provider: MetricsProvider, name: string) {
    this.#depth = provider.newDepthMetric(name)
    this.adds = provider.newAddsMetric(name)
    this.latency = provider.newLatencyMetric(name)
    this.workDuration = provider.newWorkDurationMetric(name)
    this.unfinished = provider.newUnfinishedWorkSecondsMetric(name)
    this.longest = provider.newLongestRunningProcessorSecondsMetric(name)
    this.retries = provider.newRetriesMetric(name)
    this.#priorityDepth = provider.newPriorityDepthMetric?.(name)
    this.#delayed = provider.newDelayedItemsMetric?.(name, 'delay') ?? noGauge
    this.#backoff = provider.newDelayedItemsMetric?.(name, 'backoff') ?? noGauge
    this.limiterDelay = provider.newRateLimiterDelayMetric?.(name) ?? noHistogram
    this.#parked = provider.newParkedItemsMetric?.(name) ?? noGauge
    this.#oldestReadyAge = provider.newOldestReadyAgeMetric?.(name) ?? noGauge
    this.deduplicated = provider.newDeduplicatedMetric?.(name) ?? noCounter
    this.leaseExpirations = provider.newLeaseExpirationsMetric?.(name) ?? noCounter
    this.#reconcile = provider.newReconcileMetrics?.(name)
  }

  /** Counts a key in, and returns the label under which it must be counted out. */
  enter(priority: number): string {
    if (this.#priorityDepth === undefined) {
      this.#depth.inc()
      return ''
    }
    const label = this.#labels.labelOf(priority)
    this.#priorityDepth.inc(label)
    return label
  }

  leave(label: string): void {
    if (this.#priorityDepth === undefined) this.#depth.dec()
    else this.#priorityDepth.dec(label)
  }

  /**
   * The depth is counted here, from 0. The series of priority 0 is exported before the first key of
   * that priority, and takes none of the labels.
   */
  countDepth(): void {
    const depth = this.#priorityDepth ?? this.#depth
    depth.inc('0')
    depth.dec('0')
  }

  setStoreGauges({ depth, delayed, backoff, parked, oldestReadyAgeMs }: StoreGauges): void {
    if (depth !== undefined) this.#depth.set(depth)
    this.#delayed.set(delayed)
    this.#backoff.set(backoff)
    this.#parked.set(parked)
    this.#oldestReadyAge.set(secondsOf(oldestReadyAgeMs))
  }

  setConcurrency(concurrency: number): void {
    this.#reconcile?.maxConcurrent.set(concurrency)
  }

  runStarted(): void {
    this.#active += 1
    this.#reconcile?.activeWorkers.set(this.#active)
  }

  /** A run whose start was not recorded is not counted at its end either. */
  runEnded(run: RunResult, ms: number): void {
    this.#active -= 1
    const reconcile = this.#reconcile
    if (reconcile === undefined) return
    reconcile.activeWorkers.set(this.#active)
    reconcile.time.observe(secondsOf(ms))
    reconcile.total.inc(run.result)
    if (run.result === 'error') reconcile.errors.inc()
    if (run.isTerminal) reconcile.terminalErrors.inc()
    if (run.isTimedOut) reconcile.timeouts.inc()
  }
}
