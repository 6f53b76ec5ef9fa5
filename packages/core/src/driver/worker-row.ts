import type { EpochMs } from '../time/clock.ts'

/**
 * The upper bounds by which durations are counted, in milliseconds: powers of two from a quarter of
 * a millisecond to about 17 minutes. All workers use the same, so that counts can be added up.
 */
export const durationBoundsMs: readonly number[] = Array.from(
  { length: 23 },
  (_, at) => 2 ** (at - 2),
)

/**
 * The counters of a worker since it started. They only rise: add up those of several workers, and
 * subtract those of two instants.
 */
export interface WorkerStats {
  /** How many handlers are running. */
  readonly busy: number
  /** How many handlers have returned whose finishes the store has not acknowledged. */
  readonly finishing?: number
  /** How many runs have ended, well or not. */
  readonly runs: number
  /** How many of them have failed. */
  readonly failed: number
  /** How many adds of every kind its queue object has made. */
  readonly asked: number
  /** How many of them were merged into a run that was pending already. */
  readonly merged: number
  /** How many expired leases its queue object has found and ended. */
  readonly leaseEnds?: number
  /** How many finishes came too late: the lease was lost before. */
  readonly lost?: number
  /**
   * How long keys were ready before their handlers began: a count per bound of
   * {@link durationBoundsMs}, and a last one for everything above.
   */
  readonly wait: readonly number[]
  /** How long the handlers took that have ended, counted in the same way. */
  readonly work: readonly number[]
  /** The handler that has run longest of those that are running. */
  readonly longest?: { readonly key: string; readonly startedAt: EpochMs }
}

/** A worker of a queue, as other processes see it. Plain data, at most 4 kB as JSON. */
export interface WorkerInfo {
  readonly holder: string
  readonly host: string
  readonly pid: number
  /**
   * How many handlers it runs concurrently. 0: it takes no keys, because it has stopped or is
   * registered for something else.
   */
  readonly concurrency: number
  /**
   * Settings that should be the same in all workers of a queue. `limiter` is the plan by which
   * failed keys are retried, as JSON; absent if it is long or not known.
   */
  readonly settings: Readonly<Record<string, string | number | boolean>>
  readonly stats?: WorkerStats
}

/** A worker as the store knows it. */
export interface WorkerRow extends WorkerInfo {
  readonly startedAt: EpochMs
  readonly seenAt: EpochMs
}
