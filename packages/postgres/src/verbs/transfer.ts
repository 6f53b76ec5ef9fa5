import {
  type BucketRow,
  type DropOutcome,
  type ImportOutcome,
  isUnchanged,
  type Transfer,
  type TransferRow,
  transitions,
} from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { inLockOrder } from '../rows/key-order.ts'
import type { StoredKey } from '../rows/key-row.ts'
import { changeEach, type LockedKeys } from '../rows/lock-and-change.ts'
import { lastToken, raiseArrival, raiseTokens } from '../rows/sequences.ts'
import { lockedStates, writeBuckets } from '../rows/token-buckets.ts'

function importRow(entry: StoredKey, { now }: LockedKeys, row: TransferRow): ImportOutcome {
  const isNew = transitions.isGone(entry.state)
  const outcome = transitions.mergeRow(entry.state, row, now)
  if (isNew) entry.item = row.item
  entry.lastError ??= row.lastError
  return outcome
}

function dropRow({ state, item }: StoredKey, row: TransferRow): DropOutcome {
  if (transitions.isGone(state)) return 'missing'
  if (!isUnchanged(state, item, row)) return 'changed'
  transitions.remove(state)
  return 'dropped'
}

async function importBuckets(
  store: Store,
  buckets: readonly BucketRow[],
): Promise<readonly ImportOutcome[]> {
  const names = inLockOrder(buckets.map(({ name }) => name))
  return await store.transaction(async (connection) => {
    const { states } = await lockedStates(connection, store, names)
    const added = buckets.filter(({ name }) => !states.has(name))
    await writeBuckets(connection, store, added, [])
    return buckets.map(({ name }) => (states.has(name) ? 'unchanged' : 'imported'))
  })
}

/**
 * The verbs that move keys between stores. `wake` is called with a queue in which
 * keys may have become ready.
 */
export function transfer(store: () => Store, wake: (queue: string) => void): Transfer {
  return {
    async importRows(queue, rows) {
      // First: if the import fails, a few positions in the order stay unused, which does no harm.
      await raiseArrival(store(), Math.max(...rows.map(({ seq }) => seq)))
      const outcomes = await changeEach(
        store(),
        queue,
        rows.map(({ key }) => key),
        (entry, locked, index) => importRow(entry, locked, rows[index]!),
        { creates: true },
      )
      wake(queue)
      return outcomes
    },
    async dropRows(queue, rows) {
      // A caller sends about a megabyte at once, and as much is read here.
      return await changeEach(
        store(),
        queue,
        rows.map(({ key }) => key),
        (entry, _, index) => dropRow(entry, rows[index]!),
        { readsItems: true },
      )
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
