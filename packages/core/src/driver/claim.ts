import type { LimiterPlan } from '../limiter/plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Ask } from './ask.ts'
import type { Dedupe, FinishOutcome, RenewOutcome } from './outcomes.ts'

/** A key together with the token under which it is held. */
export interface Lease {
  readonly key: string
  readonly token: number
}

/** What a claim asks for. */
export interface ClaimRequest {
  /** How many keys at the most; at least 1. */
  readonly limit: number
  /** Who holds them: a random name, one per queue object. */
  readonly holder: string
  /** A name for this very request, unique, under which its claims can be found again. */
  readonly claimId: string
  /** How long the lease lasts; `Infinity` = it does not end by itself. */
  readonly leaseMs: number
  /** Set: only keys due at or before this instant of the store. */
  readonly dueBy?: EpochMs | undefined
}

/** A key that was handed out. */
export interface Claim {
  readonly key: string
  /** See {@link Ask.item}. */
  readonly item: string | undefined
  /** Greater than every token the store has given out before. */
  readonly token: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  /** When the run was first asked for. */
  readonly askedAt: EpochMs
  /** Where it stood in line. */
  readonly readyAt: EpochMs
  readonly leaseUntil: EpochMs
}

/** The answer to a claim. */
export interface ClaimReply {
  /** In the order in which they are to be worked on. */
  readonly claims: readonly Claim[]
  /** Leases that were found to be over; the caller answers with `expire`. A bounded number. */
  readonly leaseEnds: readonly Lease[]
  /** The store's time of this claim. */
  readonly now: EpochMs
}

/** How a holder gives a key back. */
export type Finish =
  | { readonly as: 'done'; readonly key: string; readonly token: number; readonly forget: boolean }
  | {
      readonly as: 'retry'
      readonly key: string
      readonly token: number
      /** See `Ask.delayMs`. */
      readonly delayMs: number
      /** See `Ask.plan`. */
      readonly plan?: LimiterPlan | undefined
      /** See `Ask.jitter`. */
      readonly jitter?: number | undefined
      /** What went wrong, short; kept as the key's last error. */
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

/** The answer to one {@link Finish}. */
export interface FinishReply {
  readonly outcome: FinishOutcome
  /** When the next run is due; `never` if none is owed. */
  readonly dueAt: EpochMs
  /** How many failures are counted, after this finish. 0 when lost. */
  readonly failures: number
}

/** The answer to the renewal of one lease. */
export interface RenewReply {
  readonly outcome: RenewOutcome
  readonly leaseUntil: EpochMs
}

/** What the end of a lease means; see the verb `expire`. */
export interface ExpireOptions {
  readonly dedupe: Dedupe
  /** Gives the delay by its per-key part, `perKeyDelay`; no bucket is charged. Absent: no delay. */
  readonly plan?: LimiterPlan | undefined
  /** See `Ask.jitter`. */
  readonly jitter?: number | undefined
  /** A key that has crashed this often since its last finished run is parked. */
  readonly maxCrashes: number
}
