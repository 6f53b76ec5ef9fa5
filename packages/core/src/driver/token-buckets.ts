import { type BucketState, reserveToken } from '../limiter/bucket.ts'
import { bucketsOf, type LimiterPlan, type PlanBucket, planDelay } from '../limiter/plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Ask } from './ask.ts'
import type { Finish } from './claim.ts'
import type { BucketRow } from './inspection.ts'

interface Entry {
  rate: PlanBucket
  state: BucketState | undefined
  /** The state that {@link TokenBuckets.charge} will store. */
  reserved: BucketState | undefined
  isCharged: boolean
}

const noRates: readonly PlanBucket[] = []

/**
 * The token buckets that a batch of adds or finishes charges: each is read once, charged in the
 * order of the batch, and listed at the end to be written back. A driver in memory keeps one object
 * for as long as its store exists, and writes nothing.
 */
export class TokenBuckets {
  readonly #read: (name: string) => BucketState | undefined
  readonly #entries: Map<string, Entry> = new Map()
  readonly #delays: Map<string, number> = new Map()
  /** The last plan, which is nearly always the next one too, and its buckets. */
  #plan: LimiterPlan | undefined
  #rates: readonly PlanBucket[] = noRates

  /** `read` gives the stored state of a bucket; it is called once for each name. */
  constructor(read: (name: string) => BucketState | undefined = () => undefined) {
    this.#read = read
  }

  /**
   * The delay in milliseconds that `plan` gives at `now` to a key with so many failures. Takes no
   * token: {@link charge} does, if the verb makes use of the delay.
   */
  delay(plan: LimiterPlan, failures: number, jitter: number | undefined, now: EpochMs): number {
    if (plan !== this.#plan) {
      this.#rates = bucketsOf(plan)
      this.#plan = plan
      this.#delays.clear()
    }
    // By index: an iterator makes a retry in memory a twentieth slower.
    const rates = this.#rates
    for (let at = 0; at < rates.length; at += 1) {
      const rate = rates[at]!
      const entry = this.#entry(rate)
      const { delayMs, state } = reserveToken(entry.state, rate, now)
      entry.reserved = state
      this.#delays.set(rate.name, delayMs)
    }
    return planDelay(plan, failures, this.#delays, jitter ?? 0)
  }

  /**
   * The delay in milliseconds of an ask or a finish: that of its plan if it has one, as in
   * {@link delay}, otherwise its `delayMs`. 0 for a finish that is not a retry.
   */
  delayOf(request: Ask | Finish, failures: number, now: EpochMs): number {
    if ('as' in request && request.as !== 'retry') {
      this.#clear()
      return 0
    }
    const { plan, jitter, delayMs } = request
    if (plan !== undefined) return this.delay(plan, failures, jitter, now)
    this.#clear()
    return delayMs
  }

  /** Takes the tokens of the last {@link delay} or {@link delayOf}; none if it had no plan. */
  charge(): void {
    const rates = this.#rates
    for (let at = 0; at < rates.length; at += 1) {
      const rate = rates[at]!
      const entry = this.#entries.get(rate.name)!
      if (entry.reserved === entry.state) continue
      entry.state = entry.reserved
      entry.rate = rate
      entry.isCharged = true
    }
  }

  /** The buckets from which tokens were taken, and those that were put in. */
  charged(): readonly BucketRow[] {
    const rows: BucketRow[] = []
    for (const { rate, state, isCharged } of this.#entries.values()) {
      if (!isCharged || state === undefined) continue
      const { name, perSecond, burst } = rate
      rows.push({ name, perSecond, burst, tokens: state.tokens, at: state.lastMs })
    }
    return rows
  }

  /** Stores a bucket unless its name has a state already; true if it did. */
  put({ name, perSecond, burst, tokens, at }: BucketRow): boolean {
    const rate = { name, perSecond, burst }
    const entry = this.#entry(rate)
    if (entry.state !== undefined) return false
    entry.rate = rate
    entry.state = { tokens, lastMs: at }
    entry.isCharged = true
    return true
  }

  #clear(): void {
    this.#plan = undefined
    this.#rates = noRates
  }

  #entry(rate: PlanBucket): Entry {
    let entry = this.#entries.get(rate.name)
    if (entry === undefined) {
      const state = this.#read(rate.name)
      entry = { rate, state, reserved: undefined, isCharged: false }
      this.#entries.set(rate.name, entry)
    }
    return entry
  }
}
