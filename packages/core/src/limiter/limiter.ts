import { checkFunction, checkObject } from '../checks/check.ts'
import { checkPlan, type LimiterPlan } from './plan.ts'

/**
 * Decides how long a failed key waits before it is processed again.
 *
 * An object with the three methods is a limiter. It runs in this process: the queue calls `when`
 * before it writes, so the counts are lost with the process, are not shared with other processes,
 * and include failures whose write then failed. `when` must be synchronous; if it throws or returns
 * something that is not a number, the queue waits a second and reports it.
 *
 * The limiters of `@sluice/limiters` also have a {@link Limiter.plan}. A queue with such a limiter
 * calls none of the three methods: it passes the plan to its driver, which computes the delay where
 * the failures are counted. Without a queue they count in memory.
 */
export interface Limiter<T = unknown> {
  /**
   * Counts a failure of `item` and returns how long it waits, in milliseconds. Zero and less mean
   * at once; `Infinity` means the longest delay, ten years.
   */
  when(item: T): number
  /** Sets the count of `item` to zero: it succeeded, or was given up. */
  forget(item: T): void
  /** How often `when` was called for `item` since the last `forget`; 0 if nothing is counted. */
  numRequeues(item: T): number
  /** The limiter as plain data, for a store to follow. Absent: it can only run in this process. */
  readonly plan?: LimiterPlan
}

/** A limiter that a store can follow: its counts and its buckets live where the keys live. */
export interface PlannedLimiter<T = unknown> extends Limiter<T> {
  readonly plan: LimiterPlan
}

/** Accepts any object with the three methods of a limiter, whose plan a store can follow if it has one. */
export function checkLimiter<T>(parameter: string, limiter: Limiter<T>): Limiter<T> {
  checkObject(parameter, limiter)
  for (const method of ['when', 'forget', 'numRequeues'] as const) {
    checkFunction(`${parameter}.${method}`, limiter[method])
  }
  if (limiter.plan !== undefined) checkPlan(limiter.plan, `${parameter}.plan`)
  return limiter
}
