import {
  type BucketRow,
  type DropOutcome,
  type ImportOutcome,
  isUnchanged,
  type Transfer,
  type TransferRow,
  transitions,
} from '@sluice/core'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { bytewise } from '../rows/key-order.ts'
import { type LockedKeys, lockAndChange } from '../rows/lock-and-change.ts'
import { lastToken, raiseArrival, raiseTokens } from '../rows/sequences.ts'

/** Does something with the stored key of each row, in one step. */
async function eachRow<T>(
  store: Store,
  queue: string,
  rows: readonly TransferRow[],
  creates: boolean,
  verb: (locked: LockedKeys, row: TransferRow) => T,
): Promise<T[]> {
  return await store.transaction((connection) =>
    lockAndChange(connection, store.statements, {
      queue,
      keys: rows.map(({ key }) => key),
      creates,
      time: store.time,
      change: (locked) => rows.map((row) => verb(locked, row)),
    }),
  )
}

function importRow({ now, key }: LockedKeys, row: TransferRow): ImportOutcome {
  const entry = key(row.key)
  const isNew = transitions.isGone(entry.state)
  const outcome = transitions.mergeRow(entry.state, row, now)
  if (isNew) entry.item = row.item
  entry.lastError ??= row.lastError
  return outcome
}

function dropRow({ key }: LockedKeys, row: TransferRow): DropOutcome {
  const { state, item } = key(row.key)
  if (transitions.isGone(state)) return 'missing'
  if (!isUnchanged(state, item, row)) return 'changed'
  transitions.remove(state)
  return 'dropped'
}

async function importBuckets(
  store: Store,
  buckets: readonly BucketRow[],
): Promise<readonly ImportOutcome[]> {
  const names = buckets.map(({ name }) => name).sort(bytewise)
  const { statements } = store
  return await store.transaction(async (connection) => {
    const there = new Set<string>()
    for (const row of await connection.query(statements.lockBuckets, [arrayLiteral(names)])) {
      if (row['tokens'] !== null) there.add(String(row['name']))
    }
    const fresh = buckets.filter(({ name }) => !there.has(name))
    await connection.query(statements.writeBuckets, [
      arrayLiteral(fresh.map(({ name }) => name)),
      arrayLiteral(fresh.map(({ perSecond }) => perSecond)),
      arrayLiteral(fresh.map(({ burst }) => burst)),
      arrayLiteral(fresh.map(({ tokens }) => tokens)),
      arrayLiteral(fresh.map(({ at }) => at)),
      arrayLiteral([]),
    ])
    return buckets.map(({ name }) => (there.has(name) ? 'unchanged' : 'imported'))
  })
}

/** The verbs that move keys between stores. `wake` is told of queues that may have become ready. */
export function transferOn(store: () => Store, wake: (queue: string) => void): Transfer {
  return {
    async importRows(queue, rows) {
      // First: should the import fail, a few places are left out, and nothing else.
      await raiseArrival(store(), Math.max(...rows.map(({ seq }) => seq)))
      const outcomes = await eachRow(store(), queue, rows, true, importRow)
      wake(queue)
      return outcomes
    },
    async dropRows(queue, rows) {
      return await eachRow(store(), queue, rows, false, dropRow)
    },
    async importBuckets(buckets) {
      return buckets.length === 0 ? [] : await importBuckets(store(), buckets)
    },
    async lastToken() {
      return await lastToken(store())
    },
    async raiseTokens(floor) {
      await raiseTokens(store(), floor)
    },
  }
}
