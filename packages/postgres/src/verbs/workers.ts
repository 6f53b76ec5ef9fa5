import type { WorkerInfo, WorkerRow } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { number } from '../rows/columns.ts'

/** The workers of a queue. */
export async function workers(store: Store, queue: string, withinMs: number): Promise<WorkerRow[]> {
  const { now, least } = store.time.moment()
  return (await store.run('workers', [queue, withinMs, now, least])).map((row) => ({
    holder: String(row['holder']),
    host: String(row['host']),
    pid: number(row['pid']),
    concurrency: number(row['concurrency']),
    ...(JSON.parse(String(row['info'])) as Pick<WorkerInfo, 'settings' | 'stats'>),
    startedAt: number(row['started_at']),
    seenAt: number(row['seen_at']),
  }))
}
