import type { Lease } from '@sluice/core'
import { inTime } from '../environment/timing.ts'

/** What a claim has brought. */
export interface ClaimResult {
  readonly count: number
  /** A key that has crashed a worker comes alone, so there may be more behind it. */
  readonly hasCrashed: boolean
  /** Expired leases that have not been ended yet. */
  readonly leaseEnds: readonly Lease[]
}

/** The claims on their way to the store, and how many keys they can bring. */
export class ClaimsInFlight {
  readonly #timeoutMs: number
  readonly #underWay = new Set<Promise<ClaimResult>>()
  /** How many keys those under way can bring. */
  keysMax = 0
  /** How many there have been. */
  count = 0

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** How many are under way. */
  get size(): number {
    return this.#underWay.size
  }

  /** Waits for a claim, unless it takes too long; whatever that one brings is its own affair. */
  async track(limit: number, bringing: Promise<ClaimResult>): Promise<ClaimResult> {
    const flight = Promise.resolve(inTime(bringing, this.#timeoutMs, 'claim keys'))
    this.count += 1
    this.keysMax += limit
    this.#underWay.add(flight)
    try {
      return await flight
    } finally {
      this.keysMax -= limit
      this.#underWay.delete(flight)
    }
  }

  /** Resolves when each of those that are under way now has been answered or given up. */
  async answered(): Promise<void> {
    await Promise.allSettled([...this.#underWay])
  }
}
