import type { LimiterPlan } from './plan.ts'

/**
 * Decides how long a key that failed waits before it is worked on again.
 *
 * Anyone can write one with the three methods. Such a limiter runs in this process: the queue calls
 * `when` before it writes, so what the limiter counts is lost with the process, is not shared with
 * other processes, and counts failures whose write then failed. It must answer at once; if it
 * throws, or answers with something that is not a number, the queue waits a second and reports it.
 *
 * The limiters of `@sluice/limiters` carry a {@link Limiter.plan} besides. A queue that is given one
 * calls none of the three methods: it hands the plan to its driver, which works out the delay where
 * the failures are counted. Used alone they count in memory.
 */
export interface Limiter<T = unknown> {
  /**
   * Counts a failure of `item` and says how long it waits, in milliseconds. Zero and less mean at
   * once; `Infinity` means the longest delay there is, ten years.
   */
  when(item: T): number
  /** Counts from zero again for `item`: it succeeded, or was given up. */
  forget(item: T): void
  /** How often `when` was asked for `item` since it was last forgotten; 0 where nothing is counted. */
  numRequeues(item: T): number
  /** The limiter as plain data, for a store to follow. Absent: it can only run in this process. */
  readonly plan?: LimiterPlan
}

/** A limiter that a store can follow: its counts and its buckets live where the keys live. */
export interface PlannedLimiter<T = unknown> extends Limiter<T> {
  readonly plan: LimiterPlan
}
