import { expect } from 'vitest'
import type { Delta, Overview, QueueRow } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'
import type { Site } from './site.ts'

/** Opens a stream of events. */
export async function watch(
  site: Site,
  query: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const response = await site.send(`/api/stream?${query}`, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  // No proxy compresses it, or holds events back until it has many.
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  return new EventReader(response)
}

/** The view that results from a snapshot and the deltas after it. */
export function applied(
  before: Overview,
  { set, unset = [], rows = {}, gone = [], order }: Delta,
): Overview {
  const known = new Map(before.queues.map((row) => [row.queue, row]))
  for (const name of gone) known.delete(name)
  for (const [name, row] of Object.entries(rows)) known.set(name, row)
  const names = order ?? [...known.keys()]
  const rest = Object.entries({ ...before, ...set }).filter(([name]) => !unset.includes(name))
  return {
    ...(Object.fromEntries(rest) as unknown as Overview),
    queues: names.map((name) => known.get(name) as QueueRow),
  }
}
