import type { QueueRow } from '../../../src/wire.ts'
import type { QueueOrder } from '../location/location.ts'

const figures: Readonly<Partial<Record<QueueOrder, (row: QueueRow) => number | undefined>>> = {
  ready: (row) => row.counts.ready,
  delayed: (row) => row.counts.delayed,
  backoff: (row) => row.counts.backoff,
  processing: (row) => row.counts.processing + row.counts.dirty,
  parked: (row) => row.counts.parked,
  oldest: ({ counts }) => counts.oldestReadyAt && -counts.oldestReadyAt,
  in: (row) => row.flow.inPerSecond,
  out: (row) => row.flow.outPerSecond,
  failing: (row) => row.flow.errorRatio,
  wait: (row) => row.wait?.p95,
  work: (row) => row.work?.p95,
}

/** The queues in an order: largest figure first, names ascending, and `worst` as the server sorts. */
export function sortQueues(rows: readonly QueueRow[], order: QueueOrder): readonly QueueRow[] {
  if (order === 'worst') return rows
  if (order === 'queue') {
    return rows.toSorted((a, b) => (a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0))
  }
  const figure = figures[order]
  return rows.toSorted((a, b) => (figure?.(b) ?? -Infinity) - (figure?.(a) ?? -Infinity))
}

/** The queues whose names contain a text; case is ignored. */
export function filterQueues(rows: readonly QueueRow[], filter: string): readonly QueueRow[] {
  const wanted = filter.trim().toLowerCase()
  return wanted === '' ? rows : rows.filter((row) => row.queue.toLowerCase().includes(wanted))
}
