import type { Clock } from '@sluice/core'

/**
 * Decides how long `backoffUntil` waits between two runs.
 *
 * A manager may remember what it said, so give each loop its own.
 */
export interface BackoffManager {
  /** How long to wait this time, in milliseconds. Called once for each wait. */
  nextMs(): number
  /** The clock that measures the waits. */
  readonly clock: Clock
}
