import {
  type BucketRow,
  type DropOutcome,
  type ImportOutcome,
  isUnchanged,
  type Transfer,
  type TransferRow,
  transitions,
} from '@sluice/core/driver'
import type { MemoryQueue } from './memory-queue.ts'
import { noRow } from './rows/row-links.ts'
import type { MemoryStore } from './rows/row-store.ts'

function importRow(queue: MemoryQueue, row: TransferRow): ImportOutcome {
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

function dropRow(queue: MemoryQueue, row: TransferRow): DropOutcome {
  if (queue.find(row.key) === noRow) return 'missing'
  return queue.alter(row.key, 0, (cursor): DropOutcome => {
    if (!isUnchanged(cursor, queue.table.itemAt(cursor.row), row)) return 'changed'
    transitions.remove(cursor)
    return 'dropped'
  })
}

/** The verbs that move keys from and to a store in memory. */
export function memoryTransfer(
  store: MemoryStore,
  queueOf: (name: string) => MemoryQueue,
  wake: (name: string) => void,
): Transfer {
  return {
    importRows(name, rows) {
      const queue = queueOf(name)
      wake(name)
      return rows.map((row) => importRow(queue, row))
    },
    dropRows: (name, rows) => rows.map((row) => dropRow(queueOf(name), row)),
    importBuckets: (buckets: readonly BucketRow[]) =>
      buckets.map((bucket) => (store.buckets.put(bucket) ? 'imported' : 'unchanged')),
    lastToken: () => store.lastToken,
    raiseTokens(floor) {
      store.lastToken = Math.max(store.lastToken, floor)
    },
  }
}
