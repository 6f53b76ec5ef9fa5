import type { About, Delta, QueueRow, Views } from '../../../src/wire.ts'

function applyRows(queues: readonly QueueRow[], delta: Delta): readonly QueueRow[] {
  const { rows = {}, gone = [], order } = delta
  const byName = new Map(queues.map((row) => [row.queue, row]))
  for (const name of gone) byName.delete(name)
  for (const name of Object.keys(rows)) {
    const row = rows[name]
    if (row !== undefined) byName.set(name, row)
  }
  if (order === undefined) return [...byName.values()]
  const named = order.flatMap((name) => byName.get(name) ?? [])
  const rest = [...byName.values()].filter((row) => !order.includes(row.queue))
  return [...named, ...rest]
}

/** A view with a change made to it. Rows that did not change stay the same objects. */
export function applyDelta<A extends About>(view: Views[A], delta: Delta): Views[A] {
  const next: Record<string, unknown> = { ...view, ...delta.set }
  for (const name of delta.unset ?? []) delete next[name]
  if (delta.rows !== undefined || delta.gone !== undefined || delta.order !== undefined) {
    next['queues'] = applyRows((next['queues'] ?? []) as readonly QueueRow[], delta)
  }
  return next as unknown as Views[A]
}
