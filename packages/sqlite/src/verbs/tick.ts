import {
  type EpochMs,
  historyDepthCap,
  never,
  type TickReply,
  type TickRequest,
} from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { addRecord } from '../rows/history.ts'
import type { QueueRow } from '../rows/queue-row.ts'
import type { StoreRow } from '../rows/store-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'
import { expiredLeases } from './claim.ts'
import { countKeys, levelsOf } from './counts.ts'
import { registerWorker } from './workers.ts'

function nextDue(statements: Statements, queue: QueueRow): EpochMs {
  if (queue.isPaused) return never
  let next = never
  for (const { ready_at } of levelsOf(statements, queue.id)) next = Math.min(next, ready_at)
  return next
}

/** The part of a tick that only reads; `mustWrite` tells whether the other part is needed. */
export function tickRead(
  statements: Statements,
  { queue, now }: StoreRow,
  request: TickRequest,
): { readonly reply: TickReply; readonly mustWrite: boolean } {
  if (queue === undefined) {
    const reply = { now, nextAt: never, leaseEnds: [], swept: 0 }
    return { reply, mustWrite: request.worker !== undefined }
  }
  const first = statements.tickFirstLease.get(queue.id) as
    | { readonly lease_until: number }
    | undefined
  const leaseEnd = first?.lease_until ?? never
  const reply: TickReply = {
    now,
    nextAt: Math.min(nextDue(statements, queue), leaseEnd),
    leaseEnds: leaseEnd <= now ? expiredLeases(statements, queue.id, now, request.limit) : [],
    swept: 0,
  }
  const hasStale =
    statements.tickFirstIdle.get(queue.id, now - request.failuresExpireMs) !== undefined
  return { reply, mustWrite: hasStale || request.worker !== undefined }
}

/** The part of a tick that writes: worker, record and sweep. Returns how many rows were swept. */
export function tickWrite(tx: WriteTransaction, request: TickRequest): number {
  const { statements, queueId, now } = tx
  const { worker, record, holder, limit, failuresExpireMs } = request
  if (worker !== undefined) registerWorker(tx, holder, worker)
  if (record !== undefined) {
    const row = { id: queueId, isPaused: tx.isPaused }
    addRecord(tx, record, () => countKeys(statements, row, historyDepthCap, now))
  }
  const { changes } = statements.tickSweepIdle.run(queueId, now - failuresExpireMs, limit)
  return Number(changes)
}
