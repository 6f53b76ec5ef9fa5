/** How many priorities of one queue get their own label. */
const labelledMax = 25

/** The label of all other priorities, as in controller-runtime. */
const manyPriorities = 'exceeded_cardinality_limit'

/**
 * The priority labels of one queue: the first 25 different priorities have their number as the
 * label, and later ones share a label. A priority keeps its label, and the caller that counts a key
 * in stores its label, so that the key is counted out under the same one.
 */
export class PriorityLabels {
  readonly #labelled = new Set<number>()

  labelOf(priority: number): string {
    if (!this.#labelled.has(priority)) {
      if (this.#labelled.size >= labelledMax) return manyPriorities
      this.#labelled.add(priority)
    }
    return String(priority)
  }
}
