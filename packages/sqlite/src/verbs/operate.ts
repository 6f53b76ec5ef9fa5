import {
  type Awaitable,
  isPromise,
  nextTurn,
  type Operate,
  type OperateOutcome,
  transitions,
} from '@sluice/core/driver'
import type { StoredKey } from '../rows/key-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/** How many keys one step of a purge removes. */
const purgeStep = 1_000

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
    purge: (queue) => purge(change, queue),
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
 * Removes the keys that there are, in steps: a single one would block this process, and every other that
 * writes, until the last key is deleted. `last` leaves out what is added meanwhile: it would never end while
 * another process adds.
 */
function purge(change: Change, queue: string, last?: number): Awaitable<number> {
  const step = change(queue, (tx) => purgeSome(tx, last))
  const goOn = (done: PurgeStep): Awaitable<number> =>
    done.isLast
      ? done.removed
      : new Promise<void>(nextTurn)
          .then(() => purge(change, queue, done.last))
          .then((more) => done.removed + more)
  return isPromise(step) ? step.then(goOn) : goOn(step)
}

interface PurgeStep {
  readonly removed: number
  /** The position in the order at which the purge began. */
  readonly last: number
  readonly isLast: boolean
}

/**
 * Keys that are not held are deleted without being read, since nothing of them remains. Of held keys the
 * held half remains; the first step clears them, before their holders give them back.
 */
function purgeSome(tx: WriteTransaction, begun: number | undefined): PurgeStep {
  const { statements, queueId } = tx
  const last = begun ?? tx.drawSeqs(1)
  const cleared = begun === undefined ? statements.operatePurgeHeld.run(queueId).changes : 0
  const deleted = Number(statements.operatePurgeFree.run(queueId, last, purgeStep).changes)
  tx.purged()
  return { removed: deleted + Number(cleared), last, isLast: deleted < purgeStep }
}
