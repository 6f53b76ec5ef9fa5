/** How many keys are kept between their adds and their run. */
const keysMax = 10_000

/**
 * The adds of each key: any number of adds are merged into one run, which is linked to the first
 * and to the last few of them. Both numbers are bounded; the oldest key is dropped first.
 */
export class KeyLinks<Context> {
  readonly #linksMax: number
  readonly #contexts = new Map<string, Context[]>()

  constructor(linksMax: number) {
    this.#linksMax = linksMax
  }

  add(key: string, context: Context): void {
    const known = this.#contexts.get(key)
    if (known === undefined) {
      if (this.#contexts.size >= keysMax) {
        const [oldest = ''] = this.#contexts.keys()
        this.#contexts.delete(oldest)
      }
      this.#contexts.set(key, [context])
      return
    }
    // The first one stays: it requested the run.
    if (known.length >= this.#linksMax) known.splice(Math.min(1, known.length - 1), 1)
    known.push(context)
  }

  /** Returns the adds of a key, and drops them. */
  take(key: string): readonly Context[] {
    const known = this.#contexts.get(key)
    if (known === undefined) return []
    this.#contexts.delete(key)
    return known
  }
}
