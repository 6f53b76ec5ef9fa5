/** What a metric measures, and how it moves. */
export type MetricKind = 'counter' | 'gauge' | 'histogram'
