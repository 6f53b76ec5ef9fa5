import type { LimiterPlan } from '../limiter/plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Ask } from './ask.ts'
import type { Dedupe, FinishOutcome, RenewOutcome } from './outcomes.ts'

/** A key together with the token under which it is held. */
export interface Lease {
  readonly key: string
  /** A token that a claim has returned: a whole number above 0. */
  readonly token: number
}

/** The arguments of a claim. */
export interface ClaimRequest {
  /** The most keys to claim, from 1 to `batchKeysMax`. */
  readonly limit: number
  /** The name of the holder: random, one per queue object. */
  readonly holder: string
  /** A unique name for this request, under which `adopt` finds its claims again. */
  readonly claimId: string
  /** How long the lease lasts; above 0. `Infinity` = it does not expire. */
  readonly leaseMs: number
  /** Set: only keys due at or before this instant of the store. */
  readonly dueBy?: EpochMs | undefined
}

/** A claimed key. */
export interface Claim {
  readonly key: string
  /** See {@link Ask.item}. */
  readonly item: string | undefined
  /** Greater than every token that the store, or the queue, has handed out before. */
  readonly token: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  /** When the run was first added. */
  readonly askedAt: EpochMs
  /** When the key became ready, by which claims are ordered. */
  readonly readyAt: EpochMs
  readonly leaseUntil: EpochMs
  /** The trace contexts of the first and the last add of the run; see `KeyState.trace`. */
  readonly trace?: string | undefined
}

/** The reply to a claim. */
export interface ClaimReply {
  /** In the order in which they are to be processed. */
  readonly claims: readonly Claim[]
  /**
   * Expired leases that the claim has found, a bounded number; the caller passes them to `expire`.
   */
  readonly leaseEnds: readonly Lease[]
  /** The store's time of this claim. */
  readonly now: EpochMs
}

/** The next run of a key that is done. */
export interface Again {
  /** See `Ask.delayMs`. */
  readonly delayMs: number
  readonly priority: number
}

/** One key that its holder gives back, and how. */
export type Finish =
  | {
      readonly as: 'done'
      readonly key: string
      readonly token: number
      readonly forget: boolean
      /** Set: the same write adds the key again, with the item that is stored. */
      readonly again?: Again | undefined
    }
  | {
      readonly as: 'retry'
      readonly key: string
      readonly token: number
      /** See `Ask.delayMs`. */
      readonly delayMs: number
      /** The priority of the next run. Default: the one that this run had. */
      readonly priority?: number | undefined
      /** See `Ask.plan`. */
      readonly plan?: LimiterPlan | undefined
      /** See `Ask.jitter`. */
      readonly jitter?: number | undefined
      /** A short text of the error; stored as the key's last error. */
      readonly error?: string | undefined
    }
  | { readonly as: 'release'; readonly key: string; readonly token: number }
  | {
      readonly as: 'park'
      readonly key: string
      readonly token: number
      /** Set: the run failed, and is counted as a failure. */
      readonly error?: string | undefined
    }

/** The reply to one {@link Finish}. */
export interface FinishReply {
  readonly outcome: FinishOutcome
  /** When the next run is due; `never` if none is pending. */
  readonly dueAt: EpochMs
  /** How many failures are counted, after this finish. 0 when lost. */
  readonly failures: number
}

/** The reply to the renewal of one lease. */
export interface RenewReply {
  readonly outcome: RenewOutcome
  /** When the lease expires now. Meaningless when lost. */
  readonly leaseUntil: EpochMs
}

/** The consequences of an expired lease; see the verb `expire`. */
export interface ExpireOptions {
  readonly dedupe: Dedupe
  /** Its per-key part, `perKeyDelay`, gives the delay; no bucket is charged. Absent: no delay. */
  readonly plan?: LimiterPlan | undefined
  /** See `Ask.jitter`. */
  readonly jitter?: number | undefined
  /** A key that has crashed this often since its last finished run is parked. */
  readonly maxCrashes: number
  /** Stored as the last error of each key whose lease is ended. Absent: the stored one stays. */
  readonly error?: string | undefined
}

/**
 * The number under which the claims of one request are stored, a hash of the request's name: 53
 * bits, so that two names in one store practically never share it, and eight bytes per row instead
 * of a text.
 */
export function claimNumber(claimId: string): number {
  // Two FNV-like sums of 32 bits with different multipliers, of which 53 bits are kept.
  let high = 0x811c9dc5
  let low = 0x01000193
  for (let index = 0; index < claimId.length; index += 1) {
    const unit = claimId.charCodeAt(index)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul(low ^ unit, 0x5bd1e995)
    low ^= low >>> 15
  }
  high ^= high >>> 13
  return (high >>> 11) * 2 ** 32 + (low >>> 0)
}
