import type { Clock } from '@sluice/core'

/**
 * Decides how long `backoffUntil` waits between two runs.
 *
 * A manager may keep state, so give each loop its own.
 */
export interface BackoffManager {
  /** The length of the next wait, in milliseconds. Called once for each wait. */
  nextMs(): number
  /** The clock that measures the waits. */
  readonly clock: Clock
}
