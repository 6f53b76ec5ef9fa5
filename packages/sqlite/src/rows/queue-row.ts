import { workerMsMax } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import type { StoreRow } from './store-row.ts'

/** What is stored of a queue as a whole. */
export interface QueueRow {
  readonly id: number
  readonly isPaused: boolean
  /** How many keys have a pending run; null until an add with a limit for them has counted them, and after a purge. */
  readonly pending: number | null
}

/** Inserts the row of a queue that is written to for the first time. */
export function addQueue(statements: Statements, name: string): QueueRow {
  const { lastInsertRowid } = statements.queuesAdd.run(name)
  return { id: Number(lastInsertRowid), isPaused: false, pending: null }
}

/** The names of queues that have keys, are paused, or have a worker that ticked within a day. */
export function listQueues(statements: Statements, { now }: StoreRow): string[] {
  const rows = statements.queuesList.all(now - workerMsMax) as { readonly name: string }[]
  return rows.map(({ name }) => name)
}
