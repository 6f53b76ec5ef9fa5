import {
  type Ask,
  callListener,
  delayMsMax,
  describeValue,
  type Limiter,
  type LimiterPlan,
  limiterFallbackMs,
  nameOwnBucket,
  SluiceTypeError,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { defaultRetryPlan } from '../core/retry-plans.ts'
import { random } from '../environment/environment.ts'
import type { HeldPolicy } from '../held/held-key.ts'
import type { CheckedOptions } from './options.ts'

/** The delay members of an add or a retry. */
export type Delay = Pick<Ask, 'delayMs' | 'plan' | 'jitter'>

/**
 * A limiter as a queue uses it. The store follows a limiter with a plan, since the failures and the
 * buckets are there. Any other limiter is called here, before the write, and its answers are
 * checked.
 */
export class LimiterInQueue<T> {
  readonly #limiter: Limiter<T>
  readonly #plan: LimiterPlan | undefined
  /** The delay that the store computes from the plan alone: the same for every key. */
  readonly #planned: Delay | undefined
  readonly #report: (error: unknown) => void

  constructor(limiter: Limiter<T>, queueName: string, report: (error: unknown) => void) {
    this.#limiter = limiter
    this.#plan = limiter.plan === undefined ? undefined : nameOwnBucket(limiter.plan, queueName)
    this.#planned =
      this.#plan === undefined || isJittered(this.#plan)
        ? undefined
        : { delayMs: 0, plan: this.#plan }
    this.#report = report
  }

  /** How long a key that just failed waits. */
  delayOf(item: T): Delay {
    if (this.#planned !== undefined) return this.#planned
    if (this.#plan !== undefined) return { delayMs: 0, plan: this.#plan, jitter: random() }
    return { delayMs: this.#ask(item) }
  }

  #ask(item: T): number {
    try {
      const ms: unknown = this.#limiter.when(item)
      if (typeof ms === 'number' && !Number.isNaN(ms)) {
        return Math.min(Math.max(0, ms), delayMsMax)
      }
      // A promise is no number, and its rejection must not end the process.
      Promise.resolve(ms).catch(this.#report)
      throw new SluiceTypeError(
        'limiter.when(item)',
        `must return a number of milliseconds; got ${describeValue(ms)}, so the key waits 1 s`,
      )
    } catch (error) {
      this.#report(error)
      return limiterFallbackMs
    }
  }

  /** Has the limiter, which counts in this process, forget the item. */
  forget(item: T): void {
    callListener(() => this.#limiter.forget(item), this.#report)
  }

  /**
   * The failures that a limiter counts in this process, 0 if it counts none; `undefined` if the
   * store counts them.
   */
  numRequeues(item: T): number | undefined {
    if (this.#plan === undefined) return this.#limiter.numRequeues(item)
    return countsPerKey(this.#plan) ? undefined : 0
  }
}

/** Whether a part of the plan is drawn by chance. */
function isJittered(plan: LimiterPlan): boolean {
  if (plan.kind === 'maxOf') return plan.of.some(isJittered)
  return plan.kind === 'jittered' || (plan.kind === 'maxWait' && isJittered(plan.of))
}

/** Whether a part of the plan depends on the failures of a key. Buckets do not. */
function countsPerKey(plan: LimiterPlan): boolean {
  switch (plan.kind) {
    case 'exponential':
    case 'fastSlow':
      return true
    case 'bucket':
      return false
    case 'maxOf':
      return plan.of.some(countsPerKey)
    case 'maxWait':
    case 'jittered':
      return countsPerKey(plan.of)
    default:
      return plan satisfies never
  }
}

/**
 * The policy of layers without a limiter: a Held that is left unfinished is released, and one that
 * is retried waits for a back-off, so that no failing key spins.
 */
export function releasePolicy<T>(
  { limiter, name }: CheckedOptions<T>,
  core: QueueCore,
): HeldPolicy {
  if (limiter === undefined) {
    return {
      disposeAs: 'release',
      retryAs: () => ({ delayMs: 0, plan: defaultRetryPlan, jitter: random() }),
    }
  }
  const inQueue = new LimiterInQueue(limiter, name, core.plans.failed)
  return { disposeAs: 'release', retryAs: (held) => inQueue.delayOf(held.item as T) }
}
