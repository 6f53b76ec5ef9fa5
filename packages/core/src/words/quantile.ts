/**
 * A quantile of values that are counted by bounds, the last count being of those above all bounds:
 * interpolated within its bucket, to three digits. `undefined` if nothing was counted.
 */
export function quantile(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  return Number(interpolated(bounds, counts, share * total).toPrecision(3))
}

function interpolated(bounds: readonly number[], counts: readonly number[], rank: number): number {
  let left = rank
  for (const [index, count] of counts.entries()) {
    const lower = index === 0 ? 0 : (bounds[index - 1] ?? 0)
    const upper = bounds[index]
    // Values beyond the last bound are only known to exceed it.
    if (upper === undefined) return lower
    if (left <= count && count > 0) return lower + (upper - lower) * (left / count)
    left -= count
  }
  return bounds.at(-1) ?? 0
}
