import type { SluiceError } from '../errors.ts'
import type { LimiterPlan } from '../limiter/plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { AddOutcome, Dedupe } from './outcomes.ts'

/** One add: a key that is to be run. */
export interface Ask {
  readonly key: string
  /**
   * The item as JSON text, which is never empty, and which the claim returns. `undefined`: the key
   * alone gives the item, and nothing is stored. It replaces the stored item of the key, with every outcome
   * but `full`.
   */
  readonly item: string | undefined
  /** Higher first. If a run is pending, the higher of both priorities counts. */
  readonly priority: number
  /**
   * Milliseconds from the store's now until the run is due; finite. Zero and less mean now. Ignored
   * with `plan`.
   */
  readonly delayMs: number
  /**
   * Set: a key that is only delayed is moved later instead of earlier, but never past this many
   * milliseconds after its first add (debounce). Finite, and not below 0.
   */
  readonly maxWaitMs?: number | undefined
  /** Counts a failure, with every outcome but `full`. */
  readonly failed?: boolean | undefined
  /**
   * The store computes the delay: `planDelay(plan, failures before this one, delays of its buckets,
   * jitter)`. Every bucket of the plan is charged one token in the same step, unless the outcome is
   * `unchanged`.
   */
  readonly plan?: LimiterPlan | undefined
  /**
   * A random number in [0, 1) for the plan. The caller draws it, so that drivers need no
   * randomness.
   */
  readonly jitter?: number | undefined
  /**
   * The trace contexts of this add, as `mergeTraces` joins them. It is stored with the pending
   * run, with every outcome but `full`. A subscriber of the `add` event may set it when the event
   * starts: the driver is called afterwards.
   */
  trace?: string | undefined
}

/** The options of every ask of a batch. */
export interface AskOptions {
  readonly dedupe: Dedupe
  /** Failures of idle keys expire after this time: they count as none. */
  readonly failuresExpireMs: number
  /**
   * Keys without a pending run get the outcome `full` if the queue has this many pending keys. They
   * are counted once before the batch, then along it. Adds in transactions of callers count when
   * they commit, and may exceed the limit together.
   */
  readonly maxPending?: number | undefined
}

/** The reply to one {@link Ask}. */
export interface AskReply {
  readonly outcome: AddOutcome
  /** When the next run is due, after this ask. */
  readonly dueAt: EpochMs
  /** How many failures are counted, after this ask. */
  readonly failures: number
  /** The delay that the plan gave, before it was merged with a pending run. Only with a `plan`. */
  readonly plannedMs?: number
}

/** The reply for one key of a batch that failed while the others succeeded. */
export interface Failure {
  readonly outcome: 'failed'
  readonly error: SluiceError
}
