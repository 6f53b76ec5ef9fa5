import type { EpochMs } from '@sluice/core/driver'
import type { RowCursor } from './row-cursor.ts'

/**
 * The rows that can be claimed, in the order of claims. It reads them through the cursor, which may
 * be on any row afterwards unless the verb says otherwise.
 */
export interface ReadyRows {
  readonly size: number
  /** Whether {@link touch} does anything. */
  readonly needsTouch: boolean
  /** Adds the row that `cursor` is on. */
  add(cursor: RowCursor): void
  /** Removes the row of the cursor; the cursor stays on it. */
  remove(): void
  /** The key of the cursor's row, which is among the ready ones, was added again. */
  touch(): void
  /** The row to be claimed next; `noRow` if there is none. */
  peek(): number
  /** The first row that was due at `dueBy`; `noRow` if there is none. May read every row. */
  pick(dueBy: EpochMs): number
  /** When the row that has been ready longest became ready. May read every row. */
  oldestReadyAt(): EpochMs
}
