import type { WorkerRow } from '@sluice/core'

/** The worker that was seen last, of those with slots: its settings are those that hold by now. */
export function lastSeen(workers: readonly WorkerRow[]): WorkerRow | undefined {
  let last: WorkerRow | undefined
  for (const worker of workers) {
    if (worker.concurrency === 0) continue
    if (last === undefined || worker.seenAt > last.seenAt) last = worker
  }
  return last
}
