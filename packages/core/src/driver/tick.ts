import type { EpochMs } from '../time/clock.ts'
import type { AskOptions } from './ask.ts'
import type { ClaimReply, Lease } from './claim.ts'
import type { WorkRecord } from './history.ts'
import type { WorkerInfo } from './worker-row.ts'

/** The arguments of a tick. */
export interface TickRequest {
  readonly holder: string
  /** Set: registers this worker, or renews its registration. */
  readonly worker?: WorkerInfo | undefined
  /**
   * The work of that worker since its last tick with a record. A driver with `history` adds it to the
   * history of the queue, in the same statement. Never without `worker`.
   */
  readonly record?: WorkRecord | undefined
  /** The most expired leases to report, and the most stale rows to delete. */
  readonly limit: number
  /** See {@link AskOptions.failuresExpireMs}. */
  readonly failuresExpireMs: number
}

/** The reply to a tick. */
export interface TickReply {
  /** The store's time. */
  readonly now: EpochMs
  /**
   * The next instant at which to look again: a key is due or a lease ends. In the past if a key can
   * be claimed now; `never` if there is none, and for the keys of a paused queue.
   */
  readonly nextAt: EpochMs
  /** See {@link ClaimReply.leaseEnds}. */
  readonly leaseEnds: readonly Lease[]
  /** How many rows were deleted because only an expired failure count was left of them. */
  readonly swept: number
  /**
   * Whether the record was added, or may have been. If not, because another worker's was being added
   * at the same moment, it comes again with the next tick. Absent if there was none, or without `history`.
   */
  readonly recorded?: boolean | undefined
}
