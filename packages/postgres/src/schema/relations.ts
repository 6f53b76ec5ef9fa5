import type { Row } from '../connection/client-shapes.ts'
import { text } from '../rows/columns.ts'

/** The tables of a schema at the newest version, with their columns. */
export const tables: Readonly<Record<string, string>> = {
  buckets: 'at burst name per_second tokens',
  failed_runs: 'at code failures holder id key last_error queue_id',
  history:
    'added at capped codes delayed done expired failed held merged oldest_ms parked paused queue_id ready started step_ms',
  keys: 'asked_at change claim_id claimed_asked_at claimed_due_at claimed_later_at claimed_priority claimed_ready_at claimed_seq claimed_trace claimed_why crashes due_at failed_at failures holder item key last_error later_at later_why lease_until parked priority queue queue_id ready_at seq token trace why',
  migrations: 'applied_at breaking title version',
  queues: 'name paused',
  workers: 'concurrency holder host info pid queue seen_at started_at',
}

/** Its indexes. */
export const indexes: readonly string[] = [
  ...Object.keys(tables).map((name) => `${name}_pkey`),
  ...['keys_held', 'keys_idle', 'keys_parked', 'keys_waiting'],
]

/** Its sequences, except those of columns. */
export const sequences: readonly string[] = ['ahead', 'arrival', 'latest', 'token']

/**
 * What was dropped from a schema, or was not restored with it: some calls fail without it, or become slow, and no
 * migration brings it back. The rows are those of `doctor-relations.sql`.
 */
export function lacksOf(rows: readonly Row[]): readonly string[] {
  const found = new Map(rows.map((row) => [String(row['name']), text(row['columns']) ?? '']))
  const lacks = Object.entries(tables).flatMap(([name, columns]) => {
    const there = found.get(name)?.split(' ')
    if (there === undefined) return [`table ${name}`]
    const missing = columns.split(' ').filter((column) => !there.includes(column))
    return missing.map((column) => `column ${name}.${column}`)
  })
  return [
    ...lacks,
    ...indexes.filter((name) => !found.has(name)).map((name) => `index ${name}`),
    ...sequences.filter((name) => !found.has(name)).map((name) => `sequence ${name}`),
  ]
}
