import {
  type EpochMs,
  never,
  type TickReply,
  type TickRequest,
  type WorkerInfo,
  type WorkerRow,
} from '@sluice/core'
import type { Session } from '../connection/statements.ts'
import { findQueue, type QueueRow, type QueueTransaction } from '../rows/queue-transaction.ts'
import { leaseEndsOf } from './claim.ts'

/** For how long a worker that is not seen any more stays on the list, in milliseconds: a day. */
const workerMsMax = 24 * 60 * 60 * 1_000

/** One priority at which keys wait. */
export interface Level {
  readonly priority: number
  readonly ready_at: number
}

/** Every priority at which keys wait, and when the first of each is ready. */
export function levelsOf(session: Session, queueId: number): readonly Level[] {
  return session.levels.all(queueId, queueId) as Level[]
}

function nextDue(session: Session, queue: QueueRow): EpochMs {
  if (queue.isPaused) return never
  let next = never
  for (const { ready_at } of levelsOf(session, queue.id)) next = Math.min(next, ready_at)
  return next
}

/** The part of a tick that only reads; `mustWrite` says whether there is more to it. */
export function tickRead(
  session: Session,
  queue: string,
  request: TickRequest,
  now: EpochMs,
): { readonly reply: TickReply; readonly mustWrite: boolean } {
  const row = findQueue(session, queue)
  if (row === undefined) {
    const reply = { now, nextAt: never, paused: false, leaseEnds: [], swept: 0 }
    return { reply, mustWrite: request.worker !== undefined }
  }
  const first = session.leaseFirst.get(row.id) as { readonly lease_until: number } | undefined
  const leaseEnd = first?.lease_until ?? never
  const reply: TickReply = {
    now,
    nextAt: Math.min(nextDue(session, row), leaseEnd),
    paused: row.isPaused,
    leaseEnds: leaseEnd <= now ? leaseEndsOf(session, row.id, now, request.limit) : [],
    swept: 0,
  }
  const hasStale = session.idleFirst.get(row.id, now - request.failuresExpireMs) !== undefined
  return { reply, mustWrite: hasStale || request.worker !== undefined }
}

/** The part of a tick that writes: registers the worker and sweeps. Says how many rows have gone. */
export function tickWrite(tx: QueueTransaction, request: TickRequest): number {
  const { session, queueId, now } = tx
  const { worker, holder, limit, failuresExpireMs } = request
  if (worker !== undefined) {
    session.workerSave.run(queueId, holder, JSON.stringify(worker), now, now)
    session.workersSweep.run(queueId, now - workerMsMax)
  }
  const { changes } = session.sweepIdle.run(queueId, now - failuresExpireMs, limit)
  return Number(changes)
}

interface WorkerColumns {
  readonly holder: string
  readonly info: string
  readonly started_at: number
  readonly seen_at: number
}

/** The workers of a queue that were seen since `since`. */
export function workersVerb(session: Session, queue: string, since: EpochMs): WorkerRow[] {
  const row = findQueue(session, queue)
  if (row === undefined) return []
  const rows = session.workersList.all(row.id, since) as WorkerColumns[]
  return rows.map(({ info, started_at, seen_at }) => ({
    ...(JSON.parse(info) as WorkerInfo),
    startedAt: started_at,
    seenAt: seen_at,
  }))
}
