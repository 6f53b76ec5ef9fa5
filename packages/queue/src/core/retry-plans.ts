import {
  callListener,
  type ExpireOptions,
  type Limiter,
  type LimiterPlan,
  nameOwnBucket,
} from '@sluice/core'
import type { CheckedOptions } from '../queue/options.ts'

/** How failed keys wait without a limiter, and keys whose worker is gone. */
export const defaultRetryPlan: LimiterPlan = { kind: 'exponential', baseMs: 5, maxMs: 1_000_000 }

/** A limiter for items of any type. */
type AnyLimiter = Pick<Limiter<never>, 'forget' | 'plan'>

/** The limiters that decide how long the failed keys of a queue object wait. */
export class RetryPlans {
  /** How failed keys wait; `undefined` where a function of the user's decides that. */
  retry: LimiterPlan | undefined = defaultRetryPlan
  /** The plan of a limiter that was given, to this queue object or by default to its kind. */
  own: LimiterPlan | undefined = undefined
  /** How keys wait whose worker is gone. */
  expire: ExpireOptions
  readonly #queue: string
  /** Called when a limiter of the user's throws, or returns something that is not a number. */
  readonly failed: (error: unknown) => void
  /** Limiters that count in this process, each once, however many layers use it. */
  readonly #counting = new Set<AnyLimiter>()

  constructor(
    options: Pick<CheckedOptions<never>, 'name' | 'dedupe' | 'maxCrashes' | 'limiter'>,
    failed: (error: unknown) => void,
  ) {
    const { name, dedupe, maxCrashes, limiter } = options
    this.#queue = name
    this.failed = failed
    this.expire = { dedupe, plan: defaultRetryPlan, maxCrashes }
    if (limiter !== undefined) this.follow(limiter)
  }

  /** Failed keys wait for this limiter from now on; if it has a plan, expired ones do, too. */
  follow(limiter: AnyLimiter): void {
    const { plan } = limiter
    if (plan === undefined) this.#counting.add(limiter)
    this.own = plan === undefined ? undefined : nameOwnBucket(plan, this.#queue)
    this.retry = this.own
    if (this.own !== undefined) this.expire = { ...this.expire, plan: this.own }
  }

  /** The failures of a key are reset: limiters that count in this process drop their counts. */
  forget(held: { readonly item: unknown }): void {
    if (this.#counting.size === 0) return
    for (const limiter of this.#counting) {
      callListener(() => limiter.forget(held.item as never), this.failed)
    }
  }
}
