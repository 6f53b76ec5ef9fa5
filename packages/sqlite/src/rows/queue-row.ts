import type { Statements } from '../connection/statements.ts'

/** The columns of a queue. */
export interface QueueColumns {
  readonly id: number
  readonly paused: number
  /** Null until an add with a limit for them has counted them. */
  readonly pending: number | null
}

/** What is stored of a queue as a whole. */
export interface QueueRow {
  readonly id: number
  readonly isPaused: boolean
}

/** A queue that was written to before; `undefined` if it never was. */
export function findQueue(statements: Statements, name: string): QueueRow | undefined {
  const row = statements.queuesFind.get(name) as QueueColumns | undefined
  if (row === undefined) return undefined
  return { id: row.id, isPaused: row.paused === 1 }
}

/** The names of queues that have keys, are paused, or have a worker on record. */
export function listQueues(statements: Statements): string[] {
  return (statements.queuesList.all() as { readonly name: string }[]).map(({ name }) => name)
}
