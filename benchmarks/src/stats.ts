/** The middle of some figures, with the lowest and the highest. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median =
    sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, min: sorted[0]!, max: sorted.at(-1)! }
}

/** As `1.23 [1.10-1.31]`. */
export function written({ median, min, max }: Spread, digits = 2): string {
  return `${median.toFixed(digits)} [${min.toFixed(digits)}-${max.toFixed(digits)}]`
}
