import type { DueReason } from '../driver/outcomes.ts'
import type { EpochMs } from '../time/clock.ts'

/** The instant that stands for none. It makes "the earlier of two promises" a plain `Math.min`. */
export const never: EpochMs = Infinity

/** The token of a key that nobody holds. */
export const noToken = 0

/**
 * Everything that is stored of one key of one queue: two independent halves (who holds it, and what
 * is owed to it), the counters, and the parked mark.
 *
 * The members are flat and mutable so that the transitions can work on a plain object as well as on
 * a view of packed columns. Instants that are not set are {@link never}.
 */
export interface KeyState {
  /** When the next run is due; `never` = no run is owed. */
  dueAt: EpochMs
  /** Why {@link dueAt} is what it is. Meaningless while no run is owed. */
  why: DueReason
  /** A second promise, later than `dueAt`. Only ever set while `dueAt` is. */
  laterAt: EpochMs
  /** Why {@link laterAt} is what it is. */
  laterWhy: DueReason
  /**
   * Where the owed run stands in line: the later of `dueAt` and the moment the key stopped being
   * held.
   */
  readyAt: EpochMs
  /** Breaks ties of `readyAt`: the order of arrival. */
  seq: number
  /** Of the owed run; higher first. */
  priority: number
  /** When the owed run was first asked for. */
  askedAt: EpochMs

  /** The fencing number of the holder; `noToken` = not held. */
  token: number
  /** When the lease ends; `never` = it does not end by itself, or the key is not held. */
  leaseUntil: EpochMs
  /** What the claim took, so that the run can be put back in its old place. */
  claimedDueAt: EpochMs
  claimedWhy: DueReason
  /** The second promise that the claim moved up to `dueAt`. */
  claimedLaterAt: EpochMs
  claimedReadyAt: EpochMs
  claimedSeq: number
  claimedPriority: number
  claimedAskedAt: EpochMs

  /** Failed runs since the last forget. */
  failures: number
  /** Leases that have expired since a run of the key last ended, or was last forgotten. */
  crashes: number
  /** When `failures` or `crashes` last rose; `never` = not since the last forget. */
  failedAt: EpochMs
  /** Set aside: keeps what is asked, is not claimed. On a held key it takes effect when given back. */
  parked: boolean
}

/** A key of which nothing is stored yet. */
export function emptyKeyState(): KeyState {
  return {
    dueAt: never,
    why: 'add',
    laterAt: never,
    laterWhy: 'add',
    readyAt: never,
    seq: 0,
    priority: 0,
    askedAt: never,
    token: noToken,
    leaseUntil: never,
    claimedDueAt: never,
    claimedWhy: 'add',
    claimedLaterAt: never,
    claimedReadyAt: never,
    claimedSeq: 0,
    claimedPriority: 0,
    claimedAskedAt: never,
    failures: 0,
    crashes: 0,
    failedAt: never,
    parked: false,
  }
}
