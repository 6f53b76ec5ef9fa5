import {
  type AddOutcome,
  checkLimiter,
  checkObject,
  type ForgetOutcome,
  isOwnKey,
  type Limiter,
} from '@sluice/core'
import { defaultControllerLimiter } from '@sluice/limiters'
import { makeCore } from '../core/make-core.ts'
import type { QueueCore } from '../core/queue-core.ts'
import { resolvedForget } from '../core/resolved.ts'
import { AdaptedRateLimitingQueue, checkAdaptOptions } from '../foreign/adapted-queue.ts'
import { checkQueue } from '../foreign/foreign-queue.ts'
import { checkAddOptions } from './check-add.ts'
import {
  checkLayerOptions,
  isWrapping,
  PlainDelayingQueue,
  type WrapOptions,
  wrapOptionNames,
} from './delaying-queue.ts'
import { LimiterInQueue } from './limiter-in-queue.ts'
import {
  type CheckedOptions,
  checkLimiterOf,
  checkQueueOptions,
  givenOptions,
  type JsonChecked,
  type QueueOptions,
} from './options.ts'
import { type AddDraft, PlainQueue } from './plain-queue.ts'
import type { AddOptions, RateLimitingQueue } from './queue.ts'

/** How a queue that exists is given a limiter. */
export interface WrapLimitedOptions<T> extends WrapOptions<T> {
  /** Default: `defaultControllerLimiter()`. */
  readonly limiter?: Limiter<T> | undefined
}

function limited<T>(
  options: CheckedOptions<T>,
  core: QueueCore,
  limiter: Limiter<T>,
): RateLimitingQueue<T> {
  const inQueue = new LimiterInQueue(limiter, options.name, core.plans.failed)
  core.plans.follow(limiter)
  return new PlainRateLimitingQueue<T>(options, core, inQueue)
}

/** Makes a rate-limiting queue in memory. */
export function createRateLimitingQueue<T = string>(
  ...none: unknown extends JsonChecked<T> ? [] : [JsonChecked<T>]
): RateLimitingQueue<T>
/**
 * Makes a queue in which a limiter decides how long failed keys wait, or adds that to a queue that
 * exists.
 *
 * Throws for bad options only.
 */
export function createRateLimitingQueue<T = string>(
  options: (QueueOptions<T> | WrapLimitedOptions<T>) & JsonChecked<T>,
): RateLimitingQueue<T>
export function createRateLimitingQueue<T = string>(
  ...args: [(QueueOptions<T> | WrapLimitedOptions<T>)?]
): RateLimitingQueue<T> {
  const options = givenOptions(args)
  checkObject('options', options)
  if (isWrapping<T>(options)) {
    checkObject('options', options, [...wrapOptionNames, 'limiter'])
    checkAdaptOptions(options)
    const { limiter: given } = options as WrapLimitedOptions<T>
    const limiter =
      given === undefined ? defaultControllerLimiter() : checkLimiter('limiter', given)
    const inner = checkQueue(options.queue)
    if (!(inner instanceof PlainQueue)) {
      return new AdaptedRateLimitingQueue<T>(inner, limiter, options)
    }
    const { checkedOptions, core } = inner as PlainQueue<T>
    checkLayerOptions(options, checkedOptions)
    if (given !== undefined) checkLimiterOf(given, checkedOptions.driver, checkedOptions.name)
    return limited(checkedOptions, core, given ?? checkedOptions.limiter ?? limiter)
  }
  const checked = checkQueueOptions<T>(options)
  return limited(checked, makeCore(checked), checked.limiter ?? defaultControllerLimiter())
}

/** The third layer: a limiter decides how long failed keys wait. */
class PlainRateLimitingQueue<T> extends PlainDelayingQueue<T> implements RateLimitingQueue<T> {
  readonly #limiter: LimiterInQueue<T>

  constructor(options: CheckedOptions<T>, core: QueueCore, limiter: LimiterInQueue<T>) {
    super(options, core, {
      disposeAs: 'retry',
      retryAs: (held) => limiter.delayOf(held.item as T),
    })
    this.#limiter = limiter
  }

  addRateLimited(item: T, options?: AddOptions): Promise<AddOutcome> {
    try {
      const priority = checkAddOptions(options)
      const draft = {
        key: '',
        item: undefined,
        priority,
        delayMs: 0,
        jitter: undefined,
        plan: undefined,
        failed: true,
      }
      return this.ask(item, draft, true, this.#decide)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The delay of an add; a limiter must not count one that is refused. */
  readonly #decide = (item: T, draft: AddDraft): void => {
    this.core.refuseWhenEnding(draft.key, true)
    const { delayMs, jitter, plan } = this.#limiter.delayOf(item)
    draft.delayMs = delayMs
    draft.jitter = jitter
    draft.plan = plan
  }

  forget(item: T): Promise<ForgetOutcome> {
    try {
      if (this.#forgetsAtOnce(item)) return resolvedForget('forgotten')
      const key = this.keyOf(item)
      if (this.core.phase === 'closed') throw this.core.calls.closedError()
      this.core.plans.forget({ item })
      const answer = this.core.backend.adds.forget(key)
      return typeof answer === 'string' ? resolvedForget(answer) : answer
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Forgets in the direct queue; false if nothing was counted there, perhaps since it is no key.
   */
  #forgetsAtOnce(item: T): boolean {
    const { direct } = this.core
    if (direct === undefined || !this.isPlain) return false
    if (typeof item !== 'string' || !isOwnKey(item)) return false
    if (direct.forget(item) === 'unchanged') return false
    this.core.plans.forget({ item })
    return true
  }

  async numRequeues(item: T): Promise<number> {
    const key = this.keyOf(item)
    if (this.core.phase === 'closed') throw this.core.calls.closedError()
    return this.#limiter.numRequeues(item) ?? (await this.core.backend.failures(key))
  }
}
