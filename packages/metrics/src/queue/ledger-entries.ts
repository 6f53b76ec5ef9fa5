import type { EpochMs } from '@sluice/core'
import type { DelayedKey } from './due-heap.ts'

/**
 * An instant by both clocks: the store's time, in which instants are given, and the monotonic
 * clock.
 */
export interface Moment {
  readonly now: EpochMs
  readonly monotonicMs: number
}

/** The part of a claim that a ledger reads. Claims through a direct queue have no `readyAt`. */
export interface SeenClaim {
  readonly key: string
  readonly token: number
  readonly priority: number
  readonly askedAt: EpochMs
  readonly readyAt?: EpochMs
}

/** A key in the dirty set of the original: ready, or added again while it is held. */
export interface Mark {
  /**
   * When it entered the set, on the monotonic clock; `undefined`: known by the store's time only.
   */
  readonly since: number | undefined
  readonly dueAt: EpochMs
  priority: number
  /** The priority under which it was counted into the depth. */
  label: string
  /** Whether the add was counted, here or by the process that made it. */
  readonly isCounted: boolean
}

/** The pending runs of a parked key. */
export interface ParkedKey extends DelayedKey {
  /** When its second run is due; `never` = it has none. */
  readonly laterAt: EpochMs
}

/** A key that is held. */
export interface Running {
  readonly key: string
  readonly holder: string
  readonly priority: number
  /** Since when it is worked on: its claim, and with a worker the call of its handler. */
  since: number
  /** Its handler has returned, and the work was counted; the finish has no answer yet. */
  hasReturned: boolean
  /** When the key had entered the queue, on the monotonic clock. */
  readonly addedAt: number
  /** It is claimed for a worker that has not called its handler. */
  isWaiting: boolean
}
