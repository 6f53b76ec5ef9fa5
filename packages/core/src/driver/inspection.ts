import type { EpochMs } from '../time/clock.ts'
import type { KeyState } from '../transitions/key-state.ts'
import type { KeyStateWord } from './outcomes.ts'

/** How many keys are in each state. Each key is counted once. */
export type Counts = Readonly<Record<KeyStateWord, number>> & {
  /** True if counting stopped at the cap; then the counts are lower bounds. */
  readonly capped: boolean
  readonly paused: boolean
  /** When the key that has been ready longest became so; `never` if none is ready. */
  readonly oldestReadyAt: EpochMs
  /**
   * When the last lease of the held keys ends, or ended: from then on no process holds a key, unless it
   * renews. `never` if none is held, or one is held without a lease. With `capped`, of the counted keys.
   */
  readonly heldUntil: EpochMs
}

/** One key with everything that is stored of it. */
export interface KeyRow extends Readonly<KeyState> {
  readonly key: string
  readonly state: KeyStateWord
  /** As it was added; `''` if the store has lost it. */
  readonly item: string | undefined
  readonly holder: string | undefined
  readonly lastError: string | undefined
}

/** Which keys to list. */
export interface ListRequest {
  /** Only these keys, each once, in any order, without paging. `state` and `prefix` apply to them, too. */
  readonly keys?: readonly string[] | undefined
  /** Only keys in this state. */
  readonly state?: KeyStateWord | undefined
  /** Only keys that start with this text. */
  readonly prefix?: string | undefined
  /** The cursor of the previous page, of a list with the same `state` and `prefix`. */
  readonly cursor?: string | undefined
  /** The most keys on the page; at least 1. */
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
  /** Tokens at `at`; below zero when tokens of the future are reserved already. */
  readonly tokens: number
  readonly at: EpochMs
}
