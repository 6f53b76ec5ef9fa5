import type { EpochMs } from '../time/clock.ts'
import type { KeyState } from '../transitions/key-state.ts'
import type { AskOptions } from './ask.ts'
import type { ClaimReply, Lease } from './claim.ts'
import type { KeyStateWord } from './outcomes.ts'
import type { WorkerStats } from './worker-stats.ts'

/** Who works on a queue, for others to see. Plain data, at most 4 kB as JSON. */
export interface WorkerInfo {
  readonly holder: string
  readonly host: string
  readonly pid: number
  /**
   * How many handlers it runs at a time. 0: it takes no keys, since it has stopped, or since it is
   * registered for something else.
   */
  readonly concurrency: number
  /**
   * Settings that ought to be the same in all workers of a queue. `limiter` is the plan by which
   * failed keys come back, as JSON; left out where it is long, or not known.
   */
  readonly settings: Readonly<Record<string, string | number | boolean>>
  readonly stats?: WorkerStats
}

/** A worker as the store knows it. */
export interface WorkerRow extends WorkerInfo {
  readonly startedAt: EpochMs
  readonly seenAt: EpochMs
}

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

/** How many keys are in each state. Each key is counted once. */
export type Counts = Readonly<Record<KeyStateWord, number>> & {
  /** True if counting stopped at the cap; then the counts are lower bounds. */
  readonly capped: boolean
  readonly paused: boolean
  /** When the key that has been ready longest became so; `never` if none is ready. */
  readonly oldestReadyAt: EpochMs
}

/** One key with everything that is stored of it. */
export interface KeyRow extends Readonly<KeyState> {
  readonly key: string
  readonly state: KeyStateWord
  readonly item: string | undefined
  readonly holder: string | undefined
  readonly lastError: string | undefined
}

/** Which keys to list. */
export interface ListRequest {
  /** Only these keys, in any order, without paging. */
  readonly keys?: readonly string[] | undefined
  /** Only keys in this state. */
  readonly state?: KeyStateWord | undefined
  /** Only keys that start with this text. */
  readonly prefix?: string | undefined
  /** Where the page before this one ended. */
  readonly cursor?: string | undefined
  /** How many at the most. */
  readonly limit: number
}

/** A page of keys, in the bytewise order of the keys. */
export interface ListReply {
  readonly now: EpochMs
  readonly rows: readonly KeyRow[]
  /** Where the next page begins; absent on the last one. */
  readonly cursor?: string
}

/** A token bucket as the store keeps it. */
export interface BucketRow {
  readonly name: string
  readonly perSecond: number
  readonly burst: number
  /** Tokens at `at`; below zero when later ones are promised already. */
  readonly tokens: number
  readonly at: EpochMs
}
