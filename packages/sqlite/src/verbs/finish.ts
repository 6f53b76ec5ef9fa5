import {
  type AskOptions,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  never,
  transitions,
} from '@sluice/core'
import type { KeyRecord } from '../rows/key-row.ts'
import type { QueueTransaction } from '../rows/queue-transaction.ts'
import { BucketCharges } from '../rows/token-buckets.ts'

const gone: FinishReply = { outcome: 'idle', dueAt: never, failures: 0 }
const lost: FinishReply = { outcome: 'lost', dueAt: never, failures: 0 }

/**
 * Gives back held keys.
 *
 * A key that is done, with nothing else to remember of it, is dropped by one statement that looks
 * at the token too. Everything else is read and goes through the transitions.
 */
export function finishVerb(
  tx: QueueTransaction,
  finishes: readonly Finish[],
  options: AskOptions,
): FinishReply[] {
  const firstSeq = tx.drawSeqs(finishes.length)
  const charges = new BucketCharges(tx.session, tx.now)
  const replies = finishes.map((finish, index) => {
    if (finish.as === 'done' && dropDone(tx, finish)) return gone
    const record = tx.key(finish.key)
    const seq = firstSeq + index
    const outcome = tx.change(record, () => give(tx, record, finish, options, seq, charges))
    if (outcome === 'lost') return lost
    const { dueAt, failures } = record.state
    return { outcome, dueAt, failures }
  })
  charges.end()
  return replies
}

function dropDone(tx: QueueTransaction, finish: Extract<Finish, { as: 'done' }>): boolean {
  const statement = finish.forget ? tx.session.doneForget : tx.session.doneClean
  if (Number(statement.run(tx.queueId, finish.key, finish.token).changes) === 0) return false
  tx.wrote(0)
  return true
}

function give(
  tx: QueueTransaction,
  record: KeyRecord,
  finish: Finish,
  { dedupe }: AskOptions,
  seq: number,
  charges: BucketCharges,
): FinishOutcome {
  const { state } = record
  const { now } = tx
  const { token } = finish
  switch (finish.as) {
    case 'done':
      return transitions.done(state, token, finish.forget, now, seq)
    case 'release':
      return transitions.release(state, token, dedupe, now, seq)
    case 'park': {
      const hasFailed = finish.error !== undefined
      const outcome = transitions.parkHeld(state, token, hasFailed, dedupe, now, seq)
      if (outcome !== 'lost') record.lastError = finish.error ?? record.lastError
      return outcome
    }
    case 'retry': {
      const planned = finish.plan && charges.plan(finish.plan, state.failures, finish.jitter)
      const delayMs = planned?.delayMs ?? finish.delayMs
      const outcome = transitions.retry(state, token, delayMs, dedupe, now, seq)
      if (outcome === 'lost') return outcome
      planned?.charge()
      record.lastError = finish.error ?? record.lastError
      return outcome
    }
    default:
      return finish satisfies never
  }
}
