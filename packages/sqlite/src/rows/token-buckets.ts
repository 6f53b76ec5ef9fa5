import {
  type BucketState,
  bucketsOf,
  type EpochMs,
  type LimiterPlan,
  type PlanBucket,
  planDelay,
  reserveToken,
} from '@sluice/core'
import type { Session } from '../connection/statements.ts'

/** A delay that a plan gave, and what it costs the buckets if it is made use of. */
export interface PlannedDelay {
  readonly delayMs: number
  /** Takes the tokens. Without it the buckets stay as they are. */
  charge(): void
}

interface BucketEntry {
  state: BucketState | undefined
  bucket: PlanBucket
  isChanged: boolean
}

/** The buckets of a store within one transaction: read once, charged in order, written back once. */
export class BucketCharges {
  readonly #session: Session
  readonly #now: EpochMs
  readonly #entries = new Map<string, BucketEntry>()

  constructor(session: Session, now: EpochMs) {
    this.#session = session
    this.#now = now
  }

  /** Works out what `plan` says for a key that failed `failures` times before. */
  plan(plan: LimiterPlan, failures: number, jitter: number | undefined): PlannedDelay {
    const delays = new Map<string, number>()
    const takings: (() => void)[] = []
    for (const bucket of bucketsOf(plan)) {
      const entry = this.#entry(bucket)
      const { delayMs, state } = reserveToken(entry.state, bucket, this.#now)
      delays.set(bucket.name, delayMs)
      if (state === entry.state) continue
      takings.push(() => {
        entry.state = state
        entry.bucket = bucket
        entry.isChanged = true
      })
    }
    return {
      delayMs: planDelay(plan, failures, delays, jitter ?? 0),
      charge() {
        for (const take of takings) take()
      },
    }
  }

  /** Writes back the buckets that were charged. */
  end(): void {
    for (const { state, bucket, isChanged } of this.#entries.values()) {
      if (!isChanged || state === undefined) continue
      const { name, perSecond, burst } = bucket
      this.#session.bucketSave.run(name, perSecond, burst, state.tokens, state.lastMs)
    }
  }

  #entry(bucket: PlanBucket): BucketEntry {
    const known = this.#entries.get(bucket.name)
    if (known !== undefined) return known
    const row = this.#session.bucketFind.get(bucket.name) as
      | { readonly tokens: number; readonly at: number }
      | undefined
    const state = row === undefined ? undefined : { tokens: row.tokens, lastMs: row.at }
    const entry: BucketEntry = { state, bucket, isChanged: false }
    this.#entries.set(bucket.name, entry)
    return entry
  }
}
