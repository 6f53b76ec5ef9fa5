import { type AddOutcome, type ForgetOutcome, isOwnKey, sluiceChannel } from '@sluice/core'
import type { Engine } from '../core/queue-core.ts'
import { settledForget } from '../core/resolved.ts'
import { checkAddOptions } from './check-add.ts'
import { Delaying } from './delaying.ts'
import type { LimiterInQueue } from './limiter-in-queue.ts'
import type { CheckedOptions } from './options.ts'
import type { AddOptions, RateLimitingQueue } from './queue.ts'

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
      const key = this.keyOf(item)
      this.engine.refuseWhenEnding(key, true)
      const { delayMs, jitter, plan } = this.#limiter.delayOf(item)
      const draft = { key, item: undefined, priority, delayMs, jitter, plan, failed: true }
      return this.ask(item, draft, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  forget(item: T): Promise<ForgetOutcome> {
    try {
      if (this.#forgetsAtOnce(item)) return settledForget('forgotten')
      const key = this.keyOf(item)
      if (this.engine.phase === 'closed') throw this.engine.closedError()
      this.engine.plans.forget({ item })
      const answer = this.engine.path.forget(key)
      return answer instanceof Promise ? answer : settledForget(answer)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Forgets on the short way; false if nothing was counted there, perhaps since it is no key. */
  #forgetsAtOnce(item: T): boolean {
    const { hot } = this.engine
    if (hot === undefined || !this.isPlain || sluiceChannel.hasSubscribers) return false
    if (typeof item !== 'string' || !isOwnKey(item)) return false
    if (hot.forget(item) === 'unchanged') return false
    this.engine.plans.forget({ item })
    return true
  }

  async numRequeues(item: T): Promise<number> {
    const key = this.keyOf(item)
    if (this.engine.phase === 'closed') throw this.engine.closedError()
    return this.#limiter.numRequeues(item) ?? (await this.engine.path.failures(key))
  }
}
