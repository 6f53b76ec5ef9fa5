import type { Histogram, Quantiles } from '../../wire.ts'

/** Adds counts with the same bounds; the result is as long as the longest. */
export function addCounts(into: number[], counts: readonly number[], sign: 1 | -1 = 1): number[] {
  counts.forEach((count, index) => {
    into[index] = (into[index] ?? 0) + sign * count
  })
  return into
}

/** A quantile, interpolated within its bucket. */
function quantile(boundsMs: readonly number[], counts: readonly number[], share: number): number {
  const total = counts.reduce((sum, count) => sum + count, 0)
  let left = share * total
  for (const [index, count] of counts.entries()) {
    const lower = index === 0 ? 0 : (boundsMs[index - 1] ?? 0)
    const upper = boundsMs[index]
    // Values beyond the last bound are only known to exceed it.
    if (upper === undefined) return lower
    if (left <= count && count > 0) return lower + (upper - lower) * (left / count)
    left -= count
  }
  return boundsMs.at(-1) ?? 0
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(3))
}

/** The quantiles of a histogram; `undefined` if it is empty. */
export function quantilesOf(
  boundsMs: readonly number[],
  counts: readonly number[],
): Quantiles | undefined {
  if (!counts.some((count) => count > 0)) return undefined
  const at = (share: number): number => rounded(quantile(boundsMs, counts, share))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** Counts with their bounds; `undefined` if there are none. */
export function histogramOf(
  boundsMs: readonly number[],
  counts: readonly number[],
): Histogram | undefined {
  return counts.some((count) => count > 0) ? { boundsMs, counts } : undefined
}
