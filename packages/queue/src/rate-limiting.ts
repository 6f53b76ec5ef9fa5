import type { AddOutcome, Ask, ForgetOutcome } from '@sluice/core'
import { checkAddOptions } from './add-options.ts'
import { Delaying } from './delaying.ts'
import type { Engine } from './engine.ts'
import type { LimiterInQueue } from './limiter-in-queue.ts'
import type { CheckedOptions } from './options.ts'
import type { AskDetails } from './plain-queue.ts'
import type { AddOptions, RateLimitingQueue } from './queue.ts'
import { forgetOutcomes } from './settled.ts'

/** The third layer: a limiter decides how long failed keys wait. */
export class RateLimiting<T> extends Delaying<T> implements RateLimitingQueue<T> {
  readonly #limiter: LimiterInQueue<T>

  constructor(options: CheckedOptions<T>, engine: Engine, limiter: LimiterInQueue<T>) {
    super(options, engine, {
      disposeAs: 'retry',
      retryAs: (held) => limiter.delayOf(held.item as T),
    })
    this.#limiter = limiter
  }

  addRateLimited(item: T, options?: AddOptions): Promise<AddOutcome> {
    try {
      const priority = checkAddOptions(options)
      // The key first: a limiter must not count what is then refused.
      this.engine.refuseWhenEnding(this.keyOf(item), true)
      const delay: Pick<Ask, 'delayMs' | 'plan' | 'jitter'> = this.#limiter.delayOf(item)
      const details: AskDetails = { ...delay, priority, failed: true }
      return this.ask(item, details, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  forget(item: T): Promise<ForgetOutcome> {
    try {
      const key = this.keyOf(item)
      if (this.engine.phase === 'closed') throw this.engine.closedError()
      this.#limiter.forget(item)
      const answer = this.engine.path.forget(key)
      return answer instanceof Promise ? answer : forgetOutcomes[answer]
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async numRequeues(item: T): Promise<number> {
    const key = this.keyOf(item)
    if (this.engine.phase === 'closed') throw this.engine.closedError()
    return this.#limiter.numRequeues(item) ?? (await this.engine.path.failures(key))
  }
}
