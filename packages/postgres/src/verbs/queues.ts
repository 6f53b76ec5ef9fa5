import type { BucketRow } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { number } from '../rows/columns.ts'

/** The names of all queues. */
export async function queues(store: Store): Promise<string[]> {
  const { now, least } = store.time.moment()
  return (await store.run('queues', [now, least])).map((row) => String(row['name']))
}

/** The token buckets, which all queues share. */
export async function buckets(store: Store): Promise<BucketRow[]> {
  return (await store.run('buckets', [])).map((row) => ({
    name: String(row['name']),
    perSecond: number(row['per_second']),
    burst: number(row['burst']),
    tokens: number(row['tokens']),
    at: number(row['at']),
  }))
}
