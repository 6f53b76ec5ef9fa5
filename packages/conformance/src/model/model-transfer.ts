import type { DropOutcome, EpochMs, ImportOutcome, Transfer, TransferRow } from '@sluice/core'
import { isUnchanged } from '@sluice/core/driver'
import type { ModelStore } from './model-store.ts'
import type { Rules } from './rules.ts'

/** The verbs that move keys between stores, over the same store and rules. */
export function modelTransfer(store: ModelStore, rules: Rules, now: () => EpochMs): Transfer {
  function written(queue: string): void {
    store.sweep(queue, (state) => rules.isGone(state))
    store.wake(queue)
  }

  function importRow(queue: string, row: TransferRow): ImportOutcome {
    const entry = store.key(queue, row.key)
    const isNew = rules.isGone(entry.state)
    const outcome = rules.mergeRow(entry.state, row, now())
    if (isNew) entry.item = row.item
    entry.lastError ??= row.lastError
    store.raiseSeq(row.seq)
    return outcome
  }

  function dropRow(queue: string, row: TransferRow): DropOutcome {
    const { state, item } = store.key(queue, row.key)
    if (rules.isGone(state)) return 'missing'
    if (!isUnchanged(state, item, row)) return 'changed'
    rules.remove(state)
    return 'dropped'
  }

  return {
    importRows(queue, rows) {
      const outcomes = structuredClone(rows).map((row) => importRow(queue, row))
      written(queue)
      return outcomes
    },
    dropRows(queue, rows) {
      const outcomes = rows.map((row) => dropRow(queue, row))
      written(queue)
      return outcomes
    },
    importBuckets: (buckets) =>
      buckets.map((bucket): ImportOutcome => {
        if (store.buckets.has(bucket.name)) return 'unchanged'
        store.buckets.set(bucket.name, bucket)
        return 'imported'
      }),
    lastToken: () => store.lastToken,
    raiseTokens: (floor) => store.raiseToken(floor),
  }
}
