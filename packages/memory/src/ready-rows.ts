import type { EpochMs } from '@sluice/core'
import type { RowCursor } from './row-cursor.ts'

/** The rows that can be claimed, in the order in which they are. */
export interface ReadyRows {
  readonly size: number
  /** Takes in the row of the cursor. */
  add(cursor: RowCursor): void
  /** Takes out the row of the cursor, wherever it stands. */
  remove(cursor: RowCursor): void
  /** The row of the cursor, which waits, was asked for again. */
  touch(cursor: RowCursor): void
  /** The row to be claimed next; `noRow` if there is none. */
  peek(): number
  /** The first row that was due at `dueBy`; `noRow` if there is none. May look at every row. */
  pick(dueBy: EpochMs): number
  /** When the row that has been ready longest became so. May look at every row. */
  oldestReadyAt(): EpochMs
  /** The rows that are not due at `now`, which is before the time at which they came. */
  notDueAt(now: EpochMs): readonly number[]
}
