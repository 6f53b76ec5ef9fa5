import {
  type DropOutcome,
  type ImportOutcome,
  isUnchanged,
  type TransferRow,
  transitions,
} from '@sluice/core/driver'
import type { MemoryQueue } from './memory-queue.ts'
import { noRow } from './rows/row-links.ts'
import { text } from './rows/row-table.ts'

/** Merges a key of another store into this one. */
export function importTransferRow(queue: MemoryQueue, row: TransferRow): ImportOutcome {
  return queue.alter(row.key, row.seq, (state, now, at) => {
    const { table } = queue
    const hadItem = !transitions.isGone(state)
    const outcome = transitions.mergeRow(state, row, now)
    if (transitions.isGone(state)) return outcome
    if (!hadItem) table.setItem(at, row.item)
    if (row.lastError !== undefined && table.textAt(text.error, at) === undefined) {
      table.setText(text.error, at, row.lastError)
    }
    return outcome
  })
}

/** Deletes a key that was moved to another store, unless it has changed since. */
export function dropTransferRow(queue: MemoryQueue, row: TransferRow): DropOutcome {
  if (queue.find(row.key) === noRow) return 'missing'
  return queue.alter(row.key, 0, (state, _now, at): DropOutcome => {
    if (!isUnchanged(state, queue.table.itemAt(at), row)) return 'changed'
    transitions.remove(state)
    return 'dropped'
  })
}
