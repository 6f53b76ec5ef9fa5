import { type WorkerInfo, type WorkerRow, workerMsMax } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { deleteHistory } from '../rows/history.ts'
import type { StoreRow } from '../rows/store-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

interface WorkerColumns {
  readonly holder: string
  readonly info: string
  readonly started_at: number
  readonly seen_at: number
}

/** The workers of a queue that were seen within the last `withinMs`. */
export function workersVerb(
  statements: Statements,
  { queue, now }: StoreRow,
  withinMs: number,
): WorkerRow[] {
  if (queue === undefined) return []
  const rows = statements.workersList.all(queue.id, now - withinMs) as WorkerColumns[]
  return rows.map(({ info, started_at, seen_at }) => ({
    ...(JSON.parse(info) as WorkerInfo),
    startedAt: started_at,
    seenAt: seen_at,
  }))
}

/**
 * Registers a worker or renews its registration, and drops the registrations that are too old. Deletes the
 * records of the next queue if none of its workers was seen for two days: only they would do it.
 */
export function registerWorker(tx: WriteTransaction, holder: string, worker: WorkerInfo): void {
  const { statements, queueId, now } = tx
  statements.workersSave.run(queueId, holder, JSON.stringify(worker), now, now)
  statements.workersSweep.run(queueId, now - workerMsMax)
  const next = statements.workersUnused.get(queueId, now - 2 * workerMsMax) as
    | { readonly queue: number }
    | undefined
  if (next === undefined) return
  deleteHistory(statements, next.queue, now)
  statements.workersSweep.run(next.queue, now)
}
