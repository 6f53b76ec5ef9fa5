import type { EpochMs } from '../time/clock.ts'

/**
 * The upper bounds by which durations are counted, in milliseconds: powers of two from a quarter of
 * a millisecond to about 17 minutes. The same for everybody, so that counts can be added up.
 */
export const durationBoundsMs: readonly number[] = Array.from(
  { length: 23 },
  (_, at) => 2 ** (at - 2),
)

/**
 * What a worker has counted since it started. Counters only rise, so that those of several workers
 * can be added up, and those of two moments subtracted.
 */
export interface WorkerStats {
  /** How many handlers are running. */
  readonly busy: number
  /** How many runs have ended, well or not. */
  readonly runs: number
  /** How many of them have failed. */
  readonly failed: number
  /** How many adds of every kind its queue object has made. */
  readonly asked: number
  /** How many of them changed nothing, since as much was owed already. */
  readonly merged: number
  /** How many leases its queue object has found to be over, and ended. */
  readonly leaseEnds?: number
  /**
   * How long keys were ready before their handlers began: how often at most the first bound, how
   * often more than that and at most the second, and so on, and at last how often more than all.
   */
  readonly wait: readonly number[]
  /** How long handlers took that have ended, counted in the same way. */
  readonly work: readonly number[]
  /** The handler that has run longest of those that are running. */
  readonly longest?: { readonly key: string; readonly startedAt: EpochMs }
}

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
