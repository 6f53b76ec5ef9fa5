/**
 * Metrics of work queues, independent of the exporter: which metrics exist (`metricTable`), and when they
 * change. `createRecorder` records all queues of the process, or some of them, into your own
 * `MetricsProvider`. For Prometheus and OpenTelemetry begin with `@sluice/metrics/prometheus` or
 * `@sluice/metrics/opentelemetry`.
 *
 * @packageDocumentation
 */

export type { Buckets } from './provider/buckets.ts'
export {
  type LabelName,
  type MetricId,
  type MetricKind,
  type MetricRow,
  metricIds,
  metricTable,
} from './provider/names.ts'
export type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  MetricsProvider,
  PriorityDepthMetric,
  ReconcileMetrics,
  SettableGaugeMetric,
} from './provider/provider.ts'
export { createRecorder, type Recorder } from './recorder/recorder.ts'
export type { CustomRecorderOptions, RecorderOptions } from './recorder/recorder-options.ts'
