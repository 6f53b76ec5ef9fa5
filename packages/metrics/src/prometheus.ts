import { checkFunction, checkObject, SluiceTypeError } from '@sluice/core'
import { Counter, Gauge, type Histogram, type Registry } from 'prom-client'
import { type AdapterOptions, splitOptions } from './provider/adapter-options.ts'
import { GoHistogram } from './provider/go-histogram.ts'
import { type MetricId, metricTable } from './provider/names.ts'
import type { Labels, Series, SeriesFactory } from './provider/series.ts'
import { tableProvider } from './provider/table-provider.ts'
import { createRecorder, type Recorder } from './recorder/recorder.ts'

/** Options of {@link prometheusMetrics}. */
export interface PrometheusOptions extends AdapterOptions {
  /** The registry of prom-client that the metrics are put into. */
  readonly register: Registry
}

/** Running metrics for Prometheus. */
export interface PrometheusMetrics {
  /**
   * Stops recording, leaves the election of the process that exports the state of a store, and
   * removes the metrics from the registry. Call it before the queues are closed, so that another
   * process takes over at once.
   */
  close(): Promise<void>
}

/**
 * Puts the metrics of the queues of this process into a registry of prom-client, under the names
 * that client-go and controller-runtime use. Throws for bad options only, and if the registry has
 * metrics of these names already.
 *
 * The store is read when the registry is read; without a scrape it costs nothing.
 */
export function prometheusMetrics(options: PrometheusOptions): PrometheusMetrics {
  const { recorder: recorderOptions, naming, ids, bounds } = splitOptions(options, ['register'])
  const { register } = options
  checkObject('register', register)
  checkFunction('register.getSingleMetric', register.getSingleMetric)
  checkFunction('register.registerMetric', register.registerMetric)
  checkFunction('register.removeSingleMetric', register.removeSingleMetric)
  // All or none: half of the metrics in the registry would make the next attempt fail.
  const taken = ids.find((id) => register.getSingleMetric(metricTable[id].name) !== undefined)
  if (taken !== undefined) {
    throw new SluiceTypeError(
      'register',
      `has a metric named ${metricTable[taken].name} already; close the metrics that registered it first`,
    )
  }
  let recorder: Recorder | undefined
  const instruments = new Map<MetricId, Counter | Gauge | Histogram>()
  const waiting = new Map<MetricId, Waiting>()
  for (const id of ids) {
    const { name, kind, help, labels, scope } = metricTable[id]
    const shared = { name, help, labelNames: [...labels], registers: [register] }
    const flushes: Waiting = new Map()
    waiting.set(id, flushes)
    const collect = async (): Promise<void> => {
      // prom-client may collect them in any order, so each of them refreshes, and they share one
      // refresh.
      if (scope === 'store') await recorder?.read()
      for (const each of flushes.values()) for (const flush of each) flush()
    }
    instruments.set(
      id,
      kind === 'counter'
        ? new Counter({ ...shared, collect })
        : kind === 'gauge'
          ? new Gauge({ ...shared, collect })
          : new GoHistogram({ ...shared, buckets: [...bounds(id)] }),
    )
  }
  const provider = tableProvider(seriesOf(instruments, waiting), naming)
  const running = createRecorder({ ...recorderOptions, provider, exporter: 'prometheus' })
  recorder = running
  return {
    async close() {
      await running.close()
      for (const [id, instrument] of instruments) {
        const { name } = metricTable[id]
        // After a clear() of the registry, or a second close(), another metric may have the name.
        if (register.getSingleMetric(name) === instrument) register.removeSingleMetric(name)
      }
    },
  }
}

/** Writes the numbers of a series to prom-client, by the labels of the series. */
type Waiting = Map<string, Set<() => void>>

/**
 * Series that keep their numbers until the next collection: finding a series by its labels takes
 * prom-client a microsecond, and an add changes two of them.
 *
 * Queues with the same controller label share a series, which is dropped with the last of them.
 */
function seriesOf(
  instruments: ReadonlyMap<MetricId, Counter | Gauge | Histogram>,
  waiting: ReadonlyMap<MetricId, Waiting>,
): SeriesFactory {
  const kept = (id: MetricId, labels: Labels, flush: () => void): Series['drop'] => {
    const all = waiting.get(id)
    const key = JSON.stringify(labels)
    const shared = all?.get(key) ?? new Set()
    all?.set(key, shared.add(flush))
    return () => {
      if (!shared.delete(flush)) return
      flush()
      if (shared.size > 0) return
      all?.delete(key)
      instruments.get(id)?.remove(labels)
    }
  }
  return {
    counter(id, labels) {
      const series = (instruments.get(id) as Counter).labels(labels)
      let more = 0
      const drop = kept(id, labels, () => {
        series.inc(more)
        more = 0
      })
      return {
        inc: (by = 1) => {
          more += by
        },
        drop,
      }
    },
    gauge(id, labels) {
      const series = (instruments.get(id) as Gauge).labels(labels)
      let value = 0
      const drop = kept(id, labels, () => series.set(value))
      return {
        inc: () => {
          value += 1
        },
        dec: () => {
          value -= 1
        },
        set: (next) => {
          value = next
        },
        drop,
      }
    },
    histogram(id, labels) {
      const histogram = instruments.get(id) as Histogram
      const isNew = waiting.get(id)?.has(JSON.stringify(labels)) !== true
      if (isNew) histogram.zero(labels)
      const series = histogram.labels(labels)
      return { observe: (value) => series.observe(value), drop: kept(id, labels, () => {}) }
    },
  }
}
