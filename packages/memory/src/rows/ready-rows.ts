import type { EpochMs } from '@sluice/core'

/**
 * The rows that can be claimed, in the order in which they are. It looks at them through the cursor,
 * which may stand anywhere afterwards unless the verb says otherwise.
 */
export interface ReadyRows {
  readonly size: number
  /** Whether {@link touch} does anything. */
  readonly isTold: boolean
  /** Takes in the row of the cursor, where the cursor stays. */
  add(): void
  /** Takes out the row of the cursor, where the cursor stays. */
  remove(): void
  /** The row of the cursor, which waits, was asked for again. */
  touch(): void
  /** The row to be claimed next; `noRow` if there is none. */
  peek(): number
  /** The first row that was due at `dueBy`; `noRow` if there is none. May look at every row. */
  pick(dueBy: EpochMs): number
  /** When the row that has been ready longest became so. May look at every row. */
  oldestReadyAt(): EpochMs
}
