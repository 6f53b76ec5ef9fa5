import { type OperateOutcome, transitions } from '@sluice/core'
import type { KeyRecord } from '../rows/key-row.ts'
import type { QueueTransaction } from '../rows/queue-transaction.ts'

/** Pauses or resumes a queue. */
export function pauseVerb(tx: QueueTransaction, paused: boolean): OperateOutcome {
  const stored = paused ? 1 : 0
  const { changes } = tx.session.queuePause.run(stored, tx.queueId, stored)
  return Number(changes) > 0 ? 'changed' : 'unchanged'
}

function each(
  tx: QueueTransaction,
  keys: readonly string[],
  verb: (record: KeyRecord, seq: number) => OperateOutcome,
): OperateOutcome[] {
  const firstSeq = tx.drawSeqs(keys.length)
  const known = tx.keys(keys)
  return keys.map((key, index) => {
    const record = known.get(key)
    if (record === undefined) return 'missing'
    return tx.change(record, () => verb(record, firstSeq + index))
  })
}

/** Sets keys aside. */
export function parkVerb(tx: QueueTransaction, keys: readonly string[]): OperateOutcome[] {
  return each(tx, keys, ({ state }) => transitions.park(state))
}

/** The opposite of park. */
export function unparkVerb(
  tx: QueueTransaction,
  keys: readonly string[],
  forgets: boolean,
): OperateOutcome[] {
  return each(tx, keys, ({ state }, seq) => transitions.unpark(state, forgets, tx.now, seq))
}

/** Ends the delay or back-off of keys. */
export function runNowVerb(tx: QueueTransaction, keys: readonly string[]): OperateOutcome[] {
  return each(tx, keys, ({ state }, seq) => transitions.runNow(state, tx.now, seq))
}

/** Forgets all that is owed to, counted for and parked of keys. */
export function removeVerb(tx: QueueTransaction, keys: readonly string[]): OperateOutcome[] {
  return each(tx, keys, ({ state }) => transitions.remove(state))
}

/**
 * Removes every key of a queue. Those that nobody holds are dropped without being read, since
 * nothing of them stays; of held ones the held half stays.
 */
export function purgeVerb(tx: QueueTransaction): number {
  const { session, queueId } = tx
  const dropped = Number(session.purgeFree.run(queueId).changes)
  const cleared = Number(session.purgeHeld.run(queueId).changes)
  tx.wrote(-tx.owed)
  return dropped + cleared
}
