import type { DueReason } from '../driver/outcomes.ts'
import type { EpochMs } from '../time/clock.ts'

/** The instant that stands for none. It makes the earlier of two instants a plain `Math.min`. */
export const never: EpochMs = Infinity

/** The token of a key that is not held. */
export const noToken = 0

/**
 * Everything that is stored of one key of one queue: two independent halves (the claimed run and
 * the pending run), the counters, and the parked mark.
 *
 * The members are flat and mutable so that the transitions can work on a plain object as well as on
 * a view of packed columns. Instants that are not set are {@link never}.
 */
export interface KeyState {
  /** When the pending run is due; `never` = no run is pending. */
  dueAt: EpochMs
  /** The reason of {@link dueAt}. Meaningless while no run is pending. */
  why: DueReason
  /** When a second pending run is due, later than `dueAt`. Only set while `dueAt` is. */
  laterAt: EpochMs
  /** The reason of {@link laterAt}. */
  laterWhy: DueReason
  /**
   * The position of the pending run in the order of claims: the later of `dueAt` and the instant at
   * which the key was released.
   */
  readyAt: EpochMs
  /** Breaks ties of `readyAt`: the order of arrival. */
  seq: number
  /** Of the pending run; higher first. */
  priority: number
  /** When the pending run was first added. */
  askedAt: EpochMs
  /**
   * The trace contexts of the first and the last add since a claim last took the pending run, as
   * `mergeTraces` joins them. Absent if no run is pending, or if no add had a context.
   */
  trace: string | undefined

  /** The fencing number of the holder; `noToken` = not held. */
  token: number
  /** When the lease expires; `never` = it does not expire, or the key is not held. */
  leaseUntil: EpochMs
  /** The claimed run, so that a release can put it back into its old position. */
  claimedDueAt: EpochMs
  claimedWhy: DueReason
  /** The second pending run that the claim moved up to `dueAt`. */
  claimedLaterAt: EpochMs
  claimedReadyAt: EpochMs
  claimedSeq: number
  claimedPriority: number
  claimedAskedAt: EpochMs
  /** See {@link trace}. */
  claimedTrace: string | undefined

  /** Failed runs since the last forget. */
  failures: number
  /** Leases that have expired since a run of the key last ended, or was last forgotten. */
  crashes: number
  /** When `failures` or `crashes` last rose; `never` = not since the last forget. */
  failedAt: EpochMs
  /**
   * Parked keys are not claimed; their runs stay pending. A held key is parked when it is given
   * back.
   */
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
    trace: undefined,
    token: noToken,
    leaseUntil: never,
    claimedDueAt: never,
    claimedWhy: 'add',
    claimedLaterAt: never,
    claimedReadyAt: never,
    claimedSeq: 0,
    claimedPriority: 0,
    claimedAskedAt: never,
    claimedTrace: undefined,
    failures: 0,
    crashes: 0,
    failedAt: never,
    parked: false,
  }
}
