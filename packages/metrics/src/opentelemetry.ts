export type { MetricKind } from './names.ts'
