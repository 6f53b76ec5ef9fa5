import type { Clock, StoreInspection } from 'sluice'
import type { ExactCounts } from '../wire.ts'

/** More keys than a store can have. */
const noCap = Number.MAX_SAFE_INTEGER

/** Counts every key of a queue when a visitor asks; requests during a count share its answer. */
export class CountsOnDemand {
  readonly #store: StoreInspection
  readonly #clock: Clock
  readonly #counting: Map<string, Promise<ExactCounts>> = new Map()

  constructor(store: StoreInspection, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The counts of a queue. */
  of(queue: string): Promise<ExactCounts> {
    const running = this.#counting.get(queue)
    if (running !== undefined) return running
    const counting = this.#count(queue).finally(() => this.#counting.delete(queue))
    this.#counting.set(queue, counting)
    return counting
  }

  async #count(queue: string): Promise<ExactCounts> {
    const from = this.#clock.monotonicMs()
    const counts = await this.#store.queue(queue).counts({ cap: noCap })
    const tookMs = this.#clock.monotonicMs() - from
    return { at: await this.#store.now(), tookMs, counts }
  }
}
