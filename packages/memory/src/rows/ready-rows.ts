import type { EpochMs } from '@sluice/core/driver'

/** The rows that can be claimed, in the order of claims. */
export interface ReadyRows {
  readonly size: number
  /** Whether {@link touch} does anything. */
  readonly needsTouch: boolean
  /** Adds a row. */
  add(row: number, priority: number, readyAt: EpochMs, seq: number): void
  /** Removes a row. */
  remove(row: number): void
  /** The key of a row, which is among the ready ones, was added again. */
  touch(row: number): void
  /** The row to be claimed next; `noRow` if there is none. */
  peek(): number
  /** The first row that was due at `dueBy`; `noRow` if there is none. May read every row. */
  pick(dueBy: EpochMs): number
  /** When the row that has been ready longest became ready. May read every row. */
  oldestReadyAt(): EpochMs
}
