import { quantile } from '@sluice/core/words'
import type { Histogram, Quantiles } from '../../wire.ts'

/** Adds counts with the same bounds; the result is as long as the longest. */
export function addCounts(into: number[], counts: readonly number[], sign: 1 | -1 = 1): number[] {
  counts.forEach((count, index) => {
    into[index] = (into[index] ?? 0) + sign * count
  })
  return into
}

/** The quantiles of a histogram; `undefined` if it is empty. */
export function quantilesOf(
  boundsMs: readonly number[],
  counts: readonly number[],
): Quantiles | undefined {
  if (!counts.some((count) => count > 0)) return undefined
  const at = (share: number): number => quantile(boundsMs, counts, share) ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** Counts with their bounds; `undefined` if there are none. */
export function histogramOf(
  boundsMs: readonly number[],
  counts: readonly number[],
): Histogram | undefined {
  return counts.some((count) => count > 0) ? { boundsMs, counts } : undefined
}
