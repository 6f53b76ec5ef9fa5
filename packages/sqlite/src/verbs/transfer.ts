import {
  type Awaitable,
  type BucketRow,
  type DropOutcome,
  type ImportOutcome,
  isUnchanged,
  type Transfer,
  type TransferRow,
  transitions,
} from '@sluice/core/driver'
import type { Work } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { newKey } from '../rows/key-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'
import type { Change } from './operate.ts'

function importRows(tx: WriteTransaction, rows: readonly TransferRow[]): ImportOutcome[] {
  const known = tx.keys(rows.map(({ key }) => key))
  return rows.map((row) => {
    const stored = known.get(row.key) ?? newKey(row.key)
    const { state } = stored
    const wasGone = transitions.isGone(state)
    const outcome = tx.change(stored, () => {
      const merged = transitions.mergeRow(state, row, tx.now)
      if (wasGone) stored.item = row.item ?? null
      stored.lastError ??= row.lastError ?? null
      return merged
    })
    tx.makeRoomFor(state)
    return outcome
  })
}

function dropRows(tx: WriteTransaction, rows: readonly TransferRow[]): DropOutcome[] {
  const known = tx.keys(rows.map(({ key }) => key))
  return rows.map((row) => {
    const stored = known.get(row.key)
    if (stored === undefined) return 'missing'
    if (!isUnchanged(stored.state, stored.item ?? undefined, row)) return 'changed'
    tx.change(stored, ({ state }) => transitions.remove(state))
    return 'dropped'
  })
}

function importBucket(statements: Statements, bucket: BucketRow): ImportOutcome {
  const { name, perSecond, burst, tokens, at } = bucket
  const { changes } = statements.transferBucket.run(name, perSecond, burst, tokens, at)
  return Number(changes) > 0 ? 'imported' : 'unchanged'
}

/** The verbs that move keys between stores. */
export function sqliteTransfer(
  change: Change,
  read: <T>(work: Work<T>) => Awaitable<T>,
  write: <T>(work: Work<T>) => Awaitable<T>,
): Transfer {
  return {
    importRows: (queue, rows) => change(queue, (tx) => importRows(tx, rows)),
    dropRows: (queue, rows) => change(queue, (tx) => dropRows(tx, rows)),
    importBuckets: (buckets) =>
      write((statements) => buckets.map((bucket) => importBucket(statements, bucket))),
    lastToken: () => read((_, store) => store.token),
    raiseTokens: (floor) => write((_, store) => store.raiseToken(floor)),
  }
}
