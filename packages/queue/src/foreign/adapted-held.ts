import type { FinishOutcome } from '@sluice/core'
import type { DoneOptions, Held } from '../held/held.ts'
import { verbOf } from './foreign-queue.ts'

/** The limiter around the queue of a Held. */
export interface HeldLimits<T> {
  /** Adds the item after the limiter's delay, or the error's; false if the queue takes no more adds. */
  askAgain(item: T, error: unknown): Promise<boolean>
  /** How many failures of the item the limiter has counted. */
  failures(item: T): number
  /** The failures of the item are forgotten. */
  forget(item: T): void
}

/** A Held of a foreign queue; the limiter of the layer around it decides when it comes back. */
export class AdaptedHeld<T> implements Held<T> {
  readonly #inner: Held<T>
  readonly #limits: HeldLimits<T>
  #isFinished = false
  /** Resolves when the finish that was begun last has been answered. */
  answered: Promise<unknown> | undefined
  readonly failures: number

  constructor(inner: Held<T>, limits: HeldLimits<T>) {
    this.#inner = inner
    this.#limits = limits
    this.failures = limits.failures(inner.item)
  }

  get item(): T {
    return this.#inner.item
  }
  get key(): string {
    return this.#inner.key
  }
  get token(): number {
    return this.#inner.token
  }
  get crashes(): number {
    return this.#inner.crashes
  }
  get priority(): number {
    return this.#inner.priority
  }
  get addedAt(): number {
    return this.#inner.addedAt
  }
  get signal(): AbortSignal {
    return this.#inner.signal
  }

  /** Once is enough, unless it fails. */
  async #finish(finish: () => Promise<FinishOutcome>): Promise<FinishOutcome> {
    if (this.#isFinished) return 'lost'
    this.#isFinished = true
    try {
      const answer = finish()
      this.answered = Promise.allSettled([answer])
      return await answer
    } catch (error) {
      this.#isFinished = false
      throw error
    }
  }

  done(options?: DoneOptions): Promise<FinishOutcome> {
    return this.#finish(async () => {
      const outcome = await this.#inner.done(options)
      if (options?.forget === true && outcome !== 'lost') this.#limits.forget(this.#inner.item)
      return outcome
    })
  }

  retry(error?: unknown): Promise<FinishOutcome> {
    return this.#finish(async () => {
      // Added before it is given back, or it could be lost in between. A queue that was shut down
      // takes no more adds, as in the original, and the key is given back all the same.
      const isAgain = await this.#limits.askAgain(this.#inner.item, error)
      const outcome = await this.#inner.done()
      // The queue does not know of the add that waits in this process.
      return isAgain && outcome === 'idle' ? 'delayed' : outcome
    })
  }

  release(): Promise<FinishOutcome> {
    return this.#finish(() => verbOf(this.#inner, 'release')())
  }

  park(error?: unknown): Promise<FinishOutcome> {
    return this.#finish(() => verbOf(this.#inner, 'park')(error))
  }

  detach(): this {
    this.#inner.detach()
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isFinished) await this.retry()
  }
}
