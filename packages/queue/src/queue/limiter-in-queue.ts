import {
  type Ask,
  delayMsMax,
  type Limiter,
  type LimiterPlan,
  limiterFallbackMs,
  nameOwnBucket,
  SluiceTypeError,
} from '@sluice/core'
import { defaultRetryPlan } from '../core/retry-plans.ts'
import { random } from '../environment/environment.ts'
import type { HeldPolicy } from '../held/held-key.ts'

/** The members of an ask or a retry that say how long to wait. */
export type Delay = Pick<Ask, 'delayMs' | 'plan' | 'jitter'>

/**
 * A limiter as a queue uses it: one with a plan is followed in the store, where the failures and the
 * buckets are; any other runs here, before the write, and is not trusted to answer well.
 */
export class LimiterInQueue<T> {
  readonly #limiter: Limiter<T>
  readonly #plan: LimiterPlan | undefined
  readonly #report: (error: unknown) => void

  constructor(limiter: Limiter<T>, queueName: string, report: (error: unknown) => void) {
    this.#limiter = limiter
    this.#plan = limiter.plan === undefined ? undefined : nameOwnBucket(limiter.plan, queueName)
    this.#report = report
  }

  /** The plan, with its buckets named. */
  get plan(): LimiterPlan | undefined {
    return this.#plan
  }

  /** How long a key that just failed waits. */
  delayOf(item: T): Delay {
    if (this.#plan !== undefined) return { delayMs: 0, plan: this.#plan, jitter: random() }
    return { delayMs: this.#ask(item) }
  }

  #ask(item: T): number {
    let ms: unknown
    try {
      ms = this.#limiter.when(item)
      if (typeof ms === 'number' && !Number.isNaN(ms)) {
        return Math.min(Math.max(0, ms), delayMsMax)
      }
    } catch (error) {
      this.#report(error)
      return limiterFallbackMs
    }
    this.#report(
      new SluiceTypeError(
        'limiter.when(item)',
        `must give a number of milliseconds; got ${String(ms)}, and 1 s was waited instead`,
      ),
    )
    return limiterFallbackMs
  }

  /** Tells a limiter that counts here. */
  forget(item: T): void {
    if (this.#plan !== undefined) return
    try {
      this.#limiter.forget(item)
    } catch (error) {
      this.#report(error)
    }
  }

  /** What a limiter that counts here has counted, 0 if it counts nothing; `undefined` if the store does. */
  numRequeues(item: T): number | undefined {
    if (this.#plan === undefined) return this.#limiter.numRequeues(item)
    return countsPerKey(this.#plan) ? undefined : 0
  }
}

/** Whether a part of the plan goes by the failures of a key. Buckets do not. */
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
 * What the layers without a limiter do with their Helds: one that is left unfinished is released,
 * and one that is retried comes back by a back-off of its own, so that no failing key spins.
 */
export function releasePolicy<T>(limiter: Limiter<T> | undefined, name: string): HeldPolicy {
  if (limiter === undefined) {
    return {
      disposeAs: 'release',
      retryAs: () => ({ delayMs: 0, plan: defaultRetryPlan, jitter: random() }),
    }
  }
  const inQueue = new LimiterInQueue(limiter, name, () => undefined)
  return { disposeAs: 'release', retryAs: (held) => inQueue.delayOf(held.item as T) }
}
