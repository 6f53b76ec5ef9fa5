/** How many keys are remembered between their adds and their run. */
const keysMax = 10_000

/**
 * What was added, by key: any number of adds collapse into one run, which is linked to the first of
 * them and to the last few. Bounded in both ways; the key that was first is forgotten first.
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
    // The first stays: it is what the run was first asked for.
    if (known.length >= this.#linksMax) known.splice(Math.min(1, known.length - 1), 1)
    known.push(context)
  }

  /** Gives what was remembered of a key, and forgets it. */
  take(key: string): readonly Context[] {
    const known = this.#contexts.get(key)
    if (known === undefined) return []
    this.#contexts.delete(key)
    return known
  }
}
