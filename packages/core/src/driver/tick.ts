import type { EpochMs } from '../time/clock.ts'
import type { AskOptions } from './ask.ts'
import type { ClaimReply, Lease } from './claim.ts'
import type { WorkerInfo } from './worker-row.ts'

/** What a tick asks for and brings along. */
export interface TickRequest {
  readonly holder: string
  /** Set: registers this worker, or renews its registration. */
  readonly worker?: WorkerInfo | undefined
  /** How many expired leases to report, and how many stale rows to sweep away, at the most. */
  readonly limit: number
  /** See {@link AskOptions.failuresExpireMs}. */
  readonly failuresExpireMs: number
}

/** The answer to a tick. */
export interface TickReply {
  /** The store's time. */
  readonly now: EpochMs
  /**
   * The next instant at which looking again makes sense: a key is due or a lease ends. In the past
   * if something can be claimed now; `never` if there is nothing, and for keys of a paused queue.
   */
  readonly nextAt: EpochMs
  readonly paused: boolean
  /** See {@link ClaimReply.leaseEnds}. */
  readonly leaseEnds: readonly Lease[]
  /** How many rows of which only an expired failure count was left have gone. */
  readonly swept: number
}
