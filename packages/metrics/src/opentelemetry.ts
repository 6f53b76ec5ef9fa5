/**
 * The exporter for OpenTelemetry: {@link openTelemetryMetrics} and {@link openTelemetryTracing}.
 *
 * The instruments have exactly the names that Prometheus shows, with the unit in them and none
 * declared. The Prometheus exporter of OpenTelemetry for JavaScript leaves units out of names, so
 * that `workqueue.queue.duration` in seconds would lose its `_seconds` and fit no dashboard; and an
 * exporter that does append units would append one twice.
 */
import {
  type Attributes,
  type Counter,
  type Histogram,
  type Meter,
  metrics,
  type ObservableGauge,
} from '@opentelemetry/api'
import { checkFunction, checkObject } from '@sluice/core'
import { type AdapterOptions, splitOptions } from './provider/adapter-options.ts'
import { type MetricId, metricTable } from './provider/names.ts'
import { tableProvider } from './provider/table-provider.ts'
import { createRecorder } from './recorder/recorder.ts'
import { version } from './version.ts'

export {
  type OpenTelemetryTracing,
  openTelemetryTracing,
  type TracingOptions,
} from './tracing.ts'

/** Options of {@link openTelemetryMetrics}. */
export interface OpenTelemetryOptions extends AdapterOptions {
  /** The meter that creates the instruments. Default: that of the global meter provider. */
  readonly meter?: Meter | undefined
}

/** Running metrics for OpenTelemetry. */
export interface OpenTelemetryMetrics {
  /** Stops recording, and leaves the election of the process that exports the state of a store. */
  close(): Promise<void>
}

/** One series of a gauge: the value that is observed at collection. */
interface Cell {
  readonly instrument: ObservableGauge
  readonly attributes: Attributes
  value: number
}

function checkMeter(meter: Meter): void {
  checkObject('meter', meter)
  checkFunction('meter.createCounter', meter.createCounter)
  checkFunction('meter.createHistogram', meter.createHistogram)
  checkFunction('meter.createObservableGauge', meter.createObservableGauge)
  checkFunction('meter.addBatchObservableCallback', meter.addBatchObservableCallback)
}

/**
 * Registers the metrics of the queues of this process with a meter of OpenTelemetry, under the
 * names that Prometheus shows. Throws for bad options only.
 *
 * The store is read when metrics are collected.
 */
export function openTelemetryMetrics(options: OpenTelemetryOptions = {}): OpenTelemetryMetrics {
  const { recorder: recorderOptions, naming, ids, bounds } = splitOptions(options, ['meter'])
  if (options.meter !== undefined) checkMeter(options.meter)
  const meter = options.meter ?? metrics.getMeter('@sluice/metrics', version)
  const counters = new Map<MetricId, Counter>()
  const histograms = new Map<MetricId, Histogram>()
  const gauges = new Map<MetricId, ObservableGauge>()
  for (const id of ids) {
    const { name, kind, help: description } = metricTable[id]
    if (kind === 'counter') counters.set(id, meter.createCounter(name, { description }))
    else if (kind === 'gauge') gauges.set(id, meter.createObservableGauge(name, { description }))
    else {
      const advice = { explicitBucketBoundaries: [...bounds(id)] }
      histograms.set(id, meter.createHistogram(name, { description, advice }))
    }
  }
  const cells = new Set<Cell>()
  const provider = tableProvider(
    {
      counter(id, labels) {
        const counter = counters.get(id) as Counter
        counter.add(0, labels)
        // The OpenTelemetry API cannot end a series of a counter.
        return { inc: (by = 1) => counter.add(by, labels), drop: () => {} }
      },
      gauge(id, labels) {
        const instrument = gauges.get(id) as ObservableGauge
        const cell: Cell = { instrument, attributes: labels, value: 0 }
        cells.add(cell)
        const set = (value: number): void => {
          cell.value = value
        }
        const drop = (): void => void cells.delete(cell)
        return { set, inc: () => set(cell.value + 1), dec: () => set(cell.value - 1), drop }
      },
      histogram(id, labels) {
        const histogram = histograms.get(id) as Histogram
        return { observe: (value) => histogram.record(value, labels), drop: () => {} }
      },
    },
    naming,
  )
  const recorder = createRecorder({ ...recorderOptions, provider, exporter: 'opentelemetry' })
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    await recorder.read()
    for (const { instrument, attributes, value } of cells) {
      result.observe(instrument, value, attributes)
    }
  }
  const observed = [...gauges.values()]
  meter.addBatchObservableCallback(observe, observed)
  return {
    async close() {
      meter.removeBatchObservableCallback(observe, observed)
      await recorder.close()
    },
  }
}
