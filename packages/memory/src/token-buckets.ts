import {
  type BucketRow,
  type BucketState,
  bucketsOf,
  type EpochMs,
  type LimiterPlan,
  type PlanBucket,
  planDelay,
  reserveToken,
} from '@sluice/core'

interface Bucket {
  rate: PlanBucket
  state: BucketState | undefined
  /** What {@link BucketShelf.charge} will store. */
  reserved: BucketState | undefined
}

/** The token buckets of one store, by name. */
export class BucketShelf {
  readonly #buckets: Map<string, Bucket> = new Map()
  readonly #delays: Map<string, number> = new Map()
  /** The plan asked about last, which is nearly always the one asked about next, and its buckets. */
  #plan: LimiterPlan | undefined
  #rates: readonly PlanBucket[] = []

  /**
   * The delay that `plan` gives now to a key with so many failures. Takes no token until
   * {@link charge} is called.
   */
  delay(plan: LimiterPlan, failures: number, jitter: number, now: EpochMs): number {
    if (plan !== this.#plan) {
      this.#rates = bucketsOf(plan)
      this.#plan = plan
      this.#delays.clear()
    }
    for (const rate of this.#rates) {
      const bucket = this.#bucket(rate)
      const { delayMs, state } = reserveToken(bucket.state, rate, now)
      bucket.rate = rate
      bucket.reserved = state
      this.#delays.set(rate.name, delayMs)
    }
    return planDelay(plan, failures, this.#delays, jitter)
  }

  /** Takes the tokens that the last {@link delay} spoke of. */
  charge(): void {
    for (const { name } of this.#rates) {
      const bucket = this.#buckets.get(name)!
      bucket.state = bucket.reserved
    }
  }

  /** All buckets from which a token was ever taken. */
  list(): readonly BucketRow[] {
    const rows: BucketRow[] = []
    for (const { rate, state } of this.#buckets.values()) {
      if (state === undefined) continue
      const { name, perSecond, burst } = rate
      rows.push({ name, perSecond, burst, tokens: state.tokens, at: state.lastMs })
    }
    return rows
  }

  /** Puts a bucket in, unless a token was ever taken from one of its name; whether it did. */
  put({ name, perSecond, burst, tokens, at }: BucketRow): boolean {
    const bucket = this.#bucket({ name, perSecond, burst })
    if (bucket.state !== undefined) return false
    bucket.state = { tokens, lastMs: at }
    return true
  }

  #bucket(rate: PlanBucket): Bucket {
    let bucket = this.#buckets.get(rate.name)
    if (bucket === undefined) {
      bucket = { rate, state: undefined, reserved: undefined }
      this.#buckets.set(rate.name, bucket)
    }
    return bucket
  }
}
