import {
  type AskOptions,
  type Finish,
  type FinishReply,
  never,
  type TokenBuckets,
  transitions,
} from '@sluice/core/driver'
import type { StoredKey } from '../rows/key-row.ts'
import { saveBuckets, tokenBuckets } from '../rows/token-buckets.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

const deleted: FinishReply = { outcome: 'idle', dueAt: never, failures: 0 }
const lost: FinishReply = { outcome: 'lost', dueAt: never, failures: 0 }

/**
 * Gives back held keys.
 *
 * A key that is done, and of which nothing else is stored, is deleted by one statement that
 * compares the token too. Every other key is read and goes through the transitions.
 */
export function finishVerb(
  tx: WriteTransaction,
  finishes: readonly Finish[],
  options: AskOptions,
): FinishReply[] {
  const firstSeq = tx.drawSeqs(finishes.length)
  const buckets = tokenBuckets(tx.statements)
  const replies = finishes.map((finish, index) => {
    if (finish.as === 'done' && finish.again === undefined && deleteDone(tx, finish)) {
      return deleted
    }
    const seq = firstSeq + index
    return finishKey(tx, tx.key(finish.key), finish, options, seq, buckets)
  })
  saveBuckets(tx.statements, buckets)
  return replies
}

function deleteDone(tx: WriteTransaction, finish: Extract<Finish, { as: 'done' }>): boolean {
  const { finishDone, finishDoneForget } = tx.statements
  const statement = finish.forget ? finishDoneForget : finishDone
  if (Number(statement.run(tx.queueId, finish.key, finish.token).changes) === 0) return false
  tx.changed(0)
  return true
}

function finishKey(
  tx: WriteTransaction,
  key: StoredKey,
  finish: Finish,
  options: AskOptions,
  seq: number,
  buckets: TokenBuckets,
): FinishReply {
  const { state } = key
  const outcome = tx.change(key, () => {
    const delayMs = buckets.delayOf(finish, state.failures, tx.now)
    const given = transitions.finish(state, finish, delayMs, options, tx.now, seq)
    if (given !== 'lost') key.lastError = transitions.errorOf(finish) ?? key.lastError
    return given
  })
  if (outcome === 'lost') return lost
  buckets.charge()
  return { outcome, dueAt: state.dueAt, failures: state.failures }
}
