import { type Awaitable, type Operate, type OperateOutcome, transitions } from '@sluice/core/driver'
import type { StoredKey } from '../rows/key-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/** Changes a queue in a transaction of its own. */
export type Change = <T>(queue: string, work: (tx: WriteTransaction) => T) => Awaitable<T>

/** The verbs of an operator. */
export function sqliteOperate(change: Change): Operate {
  return {
    pause: (queue) => change(queue, (tx) => pause(tx, true)),
    resume: (queue) => change(queue, (tx) => pause(tx, false)),
    park: (queue, keys) => change(queue, (tx) => each(tx, keys, transitions.park)),
    unpark: (queue, keys, { forget }) =>
      change(queue, (tx) =>
        each(tx, keys, (state, now, seq) => transitions.unpark(state, forget, now, seq)),
      ),
    runNow: (queue, keys) => change(queue, (tx) => each(tx, keys, transitions.runNow)),
    remove: (queue, keys) => change(queue, (tx) => each(tx, keys, transitions.remove)),
    purge: (queue) => change(queue, purge),
  }
}

function pause(tx: WriteTransaction, paused: boolean): OperateOutcome {
  const stored = paused ? 1 : 0
  const { changes } = tx.statements.operatePause.run(stored, tx.queueId, stored)
  if (Number(changes) === 0) return 'unchanged'
  tx.changed(0)
  return 'changed'
}

function each(
  tx: WriteTransaction,
  keys: readonly string[],
  verb: (state: StoredKey['state'], now: number, seq: number) => OperateOutcome,
): OperateOutcome[] {
  const firstSeq = tx.drawSeqs(keys.length)
  const known = tx.keys(keys)
  return keys.map((name, index) => {
    const key = known.get(name)
    if (key === undefined) return 'missing'
    return tx.change(key, ({ state }) => verb(state, tx.now, firstSeq + index))
  })
}

/**
 * Keys that are not held are deleted without being read, since nothing of them remains; of held
 * keys the held half remains.
 */
function purge(tx: WriteTransaction): number {
  const { statements, queueId } = tx
  const deleted = Number(statements.operatePurgeFree.run(queueId).changes)
  const cleared = Number(statements.operatePurgeHeld.run(queueId).changes)
  tx.emptied()
  return deleted + cleared
}
