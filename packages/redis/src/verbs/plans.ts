import { bucketsOf, type LimiterPlan, SluiceTypeError } from '@sluice/core/driver'
import type { Layout } from '../rows/layout.ts'

/** The plans of a batch, each once, as a script gets them; entries refer to them by number. */
export class Plans {
  readonly #numbers: Map<LimiterPlan, number> = new Map()
  readonly #texts: string[] = []
  readonly #layout: Layout
  readonly #queue: string

  constructor(layout: Layout, queue: string) {
    this.#layout = layout
    this.#queue = queue
  }

  /** The number of a plan, from 1; 0 for none. */
  numberOf(plan: LimiterPlan | undefined): number {
    if (plan === undefined) return 0
    let number = this.#numbers.get(plan)
    if (number === undefined) {
      this.#checkBuckets(plan)
      number = this.#texts.push(JSON.stringify(plan))
      this.#numbers.set(plan, number)
    }
    return number
  }

  /** The arguments: how many plans there are, and their texts. */
  get args(): readonly string[] {
    return [String(this.#texts.length), ...this.#texts]
  }

  #checkBuckets(plan: LimiterPlan): void {
    if (this.#layout.isShared) return
    for (const { name } of bucketsOf(plan)) {
      if (name === `queue:${this.#queue}`) continue
      throw new SluiceTypeError(
        'limiter',
        `must not use the bucket '${name}': in a Redis cluster queues share no buckets; leave its name out, or open the store with oneSlot`,
      )
    }
  }
}
