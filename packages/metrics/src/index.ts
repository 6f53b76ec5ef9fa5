/**
 * Metrics of work queues, for any way out: what is measured, and when it moves. The ways to
 * Prometheus and to OpenTelemetry are `@sluice/metrics/prometheus` and
 * `@sluice/metrics/opentelemetry`.
 */

export type { Buckets } from './buckets.ts'
export {
  type LabelName,
  type MetricId,
  type MetricKind,
  type MetricRow,
  metricIds,
  metricTable,
} from './names.ts'
export type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  MetricsProvider,
  PriorityDepthMetric,
  ReconcileMetrics,
  SettableGaugeMetric,
} from './provider.ts'
export { createRecorder, type Recorder } from './recorder.ts'
export type { CustomRecorderOptions, RecorderOptions } from './recorder-options.ts'
