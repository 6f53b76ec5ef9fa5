import {
  type DropOutcome,
  type ImportOutcome,
  isUnchanged,
  type TransferRow,
  transitions,
} from '@sluice/core/driver'
import type { MemoryQueue } from './memory-queue.ts'
import { noRow } from './rows/row-links.ts'

/** Merges a key of another store into this one. */
export function importTransferRow(queue: MemoryQueue, row: TransferRow): ImportOutcome {
  return queue.alter(row.key, row.seq, (cursor, now) => {
    const { table } = queue
    const hadItem = !transitions.isGone(cursor)
    const outcome = transitions.mergeRow(cursor, row, now)
    if (transitions.isGone(cursor)) return outcome
    if (!hadItem) table.setItem(cursor.row, row.item)
    if (row.lastError !== undefined && table.errorAt(cursor.row) === undefined) {
      table.setError(cursor.row, row.lastError)
    }
    return outcome
  })
}

/** Deletes a key that was moved to another store, unless it has changed since. */
export function dropTransferRow(queue: MemoryQueue, row: TransferRow): DropOutcome {
  if (queue.find(row.key) === noRow) return 'missing'
  return queue.alter(row.key, 0, (cursor): DropOutcome => {
    if (!isUnchanged(cursor, queue.table.itemAt(cursor.row), row)) return 'changed'
    transitions.remove(cursor)
    return 'dropped'
  })
}
