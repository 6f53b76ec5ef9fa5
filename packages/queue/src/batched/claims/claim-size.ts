import { batchKeysMax } from '@sluice/core'

/** Of which part of a lease a claim may take most: a longer one has used up what renewals need. */
const lateShare = 1 / 3

/** The part of it that later claims are to take, in which keys can be handed out and renewed in time. */
const wantedShare = 1 / 6

/**
 * How many keys one claim asks for at most.
 *
 * Over a slow network, long items of many keys arrive after their leases have ended, and so would those of each claim
 * after it: no key would ever run. A claim that took that long makes the next ones smaller, and those that are fast
 * make them larger again.
 */
export class ClaimSize {
  readonly #leaseMs: number
  /** How many keys the next claim asks for at most. */
  max: number = batchKeysMax

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  /** A claim that brought so many keys was answered after so long. */
  note(ms: number, keys: number): void {
    const wantedMs = this.#leaseMs * wantedShare
    if (ms > this.#leaseMs * lateShare) {
      this.max = Math.max(1, Math.floor((keys * wantedMs) / ms))
    } else if (keys >= this.max && ms <= wantedMs / 2) {
      this.max = Math.min(batchKeysMax, 2 * this.max)
    }
  }
}
