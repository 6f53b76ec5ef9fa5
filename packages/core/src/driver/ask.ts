import type { SluiceError } from '../errors.ts'
import type { LimiterPlan } from '../limiter/plan.ts'
import type { EpochMs } from '../time/clock.ts'
import type { AddOutcome, Dedupe } from './outcomes.ts'

/** One key that asks for a run. */
export interface Ask {
  readonly key: string
  /**
   * The item as JSON text, to be given back with the claim. `undefined`: the item can be made from
   * the key alone, and nothing is stored. It replaces what was stored of the key.
   */
  readonly item: string | undefined
  /** Higher first; merges with what is owed by taking the higher one. */
  readonly priority: number
  /** When: this many milliseconds from the store's now. Zero and less mean now. Ignored with `plan`. */
  readonly delayMs: number
  /**
   * Set: a key that is only delayed is moved later instead of earlier, but never past this many
   * milliseconds after it was first asked for (debounce).
   */
  readonly maxWaitMs?: number | undefined
  /** Counts a failure, always, whatever the outcome. */
  readonly failed?: boolean | undefined
  /**
   * The delay is worked out in the store: `planDelay(plan, failures before this one, delays of its
   * buckets, jitter)`. Every bucket of the plan is charged one token in the same step, unless the
   * outcome is `unchanged`.
   */
  readonly plan?: LimiterPlan | undefined
  /** A number in [0, 1) for the plan, drawn by the caller so that drivers stay free of chance. */
  readonly jitter?: number | undefined
}

/** What holds for every ask of a batch. */
export interface AskOptions {
  readonly dedupe: Dedupe
  /** Failures of idle keys that are this old read as none. */
  readonly failuresExpireMs: number
  /**
   * Keys that would be new to a queue in which this many keys are owed a run get the outcome
   * `full`. Counted once before the batch, then along it. Adds in transactions of callers count when
   * they commit, and may overshoot together.
   */
  readonly maxPending?: number | undefined
}

/** The answer to one {@link Ask}. */
export interface AskReply {
  readonly outcome: AddOutcome
  /** When the next run is due, after this ask. */
  readonly dueAt: EpochMs
  /** How many failures are counted, after this ask. */
  readonly failures: number
  /** The delay that the plan gave, before it met what was owed. Only with a `plan`. */
  readonly plannedMs?: number
}

/** The answer for one key that the driver could not serve while it served the others. */
export interface Failure {
  readonly outcome: 'failed'
  readonly error: SluiceError
}
