/** By side, what was measured in each round. */
export type Samples = Record<string, Record<string, number[]>>

/** Takes down what a side did in a round. */
export function record(
  samples: Samples,
  side: string,
  figures: Readonly<Record<string, number>>,
): void {
  samples[side] ??= {}
  for (const [name, figure] of Object.entries(figures)) {
    samples[side][name] ??= []
    samples[side][name].push(figure)
  }
}

/** Parts of a list, one after another. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
