import type { EpochMs, WorkerRow } from '@sluice/core'
import type { QueueCounts, StoreInspection } from 'sluice'
import { formatAge } from '../duration.ts'
import { shown } from '../output/escape.ts'
import type { Paint } from '../output/paint.ts'
import type { Column } from '../output/table.ts'

/** A summary of one queue. Its members are part of the stable JSON output. */
export interface QueueRow {
  readonly queue: string
  readonly paused: boolean
  readonly counts: Omit<QueueCounts, 'capped' | 'paused'>
  /** True if counting stopped at the cap. */
  readonly capped: boolean
  /** Since when the oldest ready key has been ready. */
  readonly oldestReadyAt?: EpochMs
  /** The age of the oldest ready key. */
  readonly oldestAgeMs?: number
  /** How many workers were seen in the last minute; absent if the store keeps no list. */
  readonly workers?: number
}

/** How many queues are read concurrently. */
const besides = 4

/** Stopped workers stay on the list for a while. */
function takesKeys({ concurrency }: WorkerRow): boolean {
  return concurrency > 0
}

/** Reads one queue. */
export async function queueRow(store: StoreInspection, queue: string): Promise<QueueRow> {
  const inspect = store.queue(queue)
  const [{ paused, capped, oldestReadyAt: _, ...counts }, oldest, workers] = await Promise.all([
    inspect.counts(),
    inspect.oldest(),
    store.capabilities.workers ? inspect.workers() : undefined,
  ])
  return {
    queue,
    paused,
    counts,
    capped,
    ...(oldest === undefined ? {} : { oldestReadyAt: oldest.readyAt, oldestAgeMs: oldest.ageMs }),
    ...(workers === undefined ? {} : { workers: workers.filter(takesKeys).length }),
  }
}

/** Reads all queues, ordered by name. */
export async function queueRows(store: StoreInspection): Promise<readonly QueueRow[]> {
  const names = [...(await store.queues())].sort()
  const rows: QueueRow[] = []
  for (let from = 0; from < names.length; from += besides) {
    const some = names.slice(from, from + besides)
    rows.push(...(await Promise.all(some.map((name) => queueRow(store, name)))))
  }
  return rows
}

/** The state of a queue in one or two words. */
export function queueState({ paused, counts, workers }: QueueRow): string {
  if (paused) return 'paused'
  if (workers === 0 && counts.ready > 0) return 'no workers'
  return counts.ready + counts.processing + counts.dirty > 0 ? 'busy' : 'idle'
}

function painted(row: QueueRow, paint: Paint): string {
  const state = queueState(row)
  if (state === 'paused') return paint('yellow', state)
  return state === 'no workers' ? paint('red', state) : state
}

/** A count, with a mark if it is capped. */
function counted(count: number, { capped }: QueueRow): string {
  return capped && count >= 10_000 ? `${count}+` : String(count)
}

/** The columns of `queues`. */
export function queueColumns(paint: Paint): readonly Column<QueueRow>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'STATE', text: (row) => painted(row, paint) },
    { title: 'READY', text: (row) => counted(row.counts.ready, row) },
    { title: 'DELAYED', text: (row) => counted(row.counts.delayed, row) },
    { title: 'BACKOFF', text: (row) => counted(row.counts.backoff, row) },
    {
      title: 'PROCESSING',
      text: (row) => counted(row.counts.processing + row.counts.dirty, row),
    },
    { title: 'DIRTY', wide: true, text: (row) => counted(row.counts.dirty, row) },
    { title: 'PARKED', text: (row) => counted(row.counts.parked, row) },
    { title: 'IDLE', wide: true, text: (row) => counted(row.counts.idle, row) },
    {
      title: 'OLDEST',
      text: ({ oldestAgeMs }) => (oldestAgeMs === undefined ? '' : formatAge(oldestAgeMs)),
    },
    { title: 'WORKERS', text: ({ workers }) => (workers === undefined ? '?' : String(workers)) },
  ]
}

/** A row without its age, which changes constantly. */
export function settledRow({ oldestAgeMs: _, ...row }: QueueRow): Omit<QueueRow, 'oldestAgeMs'> {
  return row
}
