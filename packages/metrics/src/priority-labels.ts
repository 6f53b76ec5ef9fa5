/** How many priorities of one queue get a label of their own. */
const labelledMax = 25

/** The label of all the others, as in controller-runtime. */
const manyPriorities = 'exceeded_cardinality_limit'

/**
 * The priority labels of one queue: the first 25 different priorities are called by their number,
 * and later ones share a label. Those that have a label keep it, and whoever counts a key in
 * remembers under which label, so that it is counted out under the same one.
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
