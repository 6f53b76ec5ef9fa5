import type {
  BucketRow,
  Counts,
  Driver,
  FailedRun,
  HistoryReply,
  KeyRow,
  ListReply,
  WorkerRow,
} from '@sluice/core'

/**
 * Answers of a store as they are shown to users: by its wall clock, which the store's time is ahead
 * of once that clock was set back. Instants that are compared must all be shown ones, or none.
 */

function shownRow(row: KeyRow, ahead: number): KeyRow {
  return {
    ...row,
    dueAt: row.dueAt - ahead,
    laterAt: row.laterAt - ahead,
    readyAt: row.readyAt - ahead,
    askedAt: row.askedAt - ahead,
    failedAt: row.failedAt - ahead,
    leaseUntil: row.leaseUntil - ahead,
    claimedDueAt: row.claimedDueAt - ahead,
    claimedLaterAt: row.claimedLaterAt - ahead,
    claimedReadyAt: row.claimedReadyAt - ahead,
    claimedAskedAt: row.claimedAskedAt - ahead,
  }
}

function shownWorker(worker: WorkerRow, ahead: number): WorkerRow {
  const { stats } = worker
  const longest = stats?.longest
  return {
    ...worker,
    startedAt: worker.startedAt - ahead,
    seenAt: worker.seenAt - ahead,
    ...(stats === undefined || longest === undefined
      ? {}
      : { stats: { ...stats, longest: { ...longest, startedAt: longest.startedAt - ahead } } }),
  }
}

export function shownList({ ahead = 0 }: Driver, reply: ListReply): ListReply {
  if (ahead === 0) return reply
  const rows = reply.rows.map((row) => shownRow(row, ahead))
  return { ...reply, now: reply.now - ahead, rows }
}

export function shownCounts({ ahead = 0 }: Driver, counts: Counts): Counts {
  if (ahead === 0) return counts
  const { oldestReadyAt, heldUntil } = counts
  return { ...counts, oldestReadyAt: oldestReadyAt - ahead, heldUntil: heldUntil - ahead }
}

export function shownWorkers(
  { ahead = 0 }: Driver,
  workers: readonly WorkerRow[],
): readonly WorkerRow[] {
  return ahead === 0 ? workers : workers.map((worker) => shownWorker(worker, ahead))
}

export function shownHistory({ ahead = 0 }: Driver, reply: HistoryReply): HistoryReply {
  if (ahead === 0) return reply
  const steps = reply.steps.map((step) => ({ ...step, at: step.at - ahead }))
  return { now: reply.now - ahead, steps }
}

export function shownFailedRuns(
  { ahead = 0 }: Driver,
  runs: readonly FailedRun[],
): readonly FailedRun[] {
  return ahead === 0 ? runs : runs.map((run) => ({ ...run, at: run.at - ahead }))
}

export function shownBuckets(
  { ahead = 0 }: Driver,
  buckets: readonly BucketRow[],
): readonly BucketRow[] {
  return ahead === 0 ? buckets : buckets.map((bucket) => ({ ...bucket, at: bucket.at - ahead }))
}
