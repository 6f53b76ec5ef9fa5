import type { MetricId } from './names.ts'
import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
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
