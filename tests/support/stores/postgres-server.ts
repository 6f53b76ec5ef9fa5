import type { Subject } from '@sluice/conformance'
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { postgresDriver } from '@sluice/postgres'
import { testPostgres } from '@sluice/test-postgres'
import pg from 'pg'

/** A Postgres for tests: one of our own, or the one that `SLUICE_TEST_POSTGRES_URL` names. */
export interface PostgresServer {
  readonly url: string
  /** A driver on an empty schema of its own, which stays until the server is stopped. */
  driver(): Driver
  /** Makes drivers, each subject in a schema of its own. */
  create(): Subject
  stop(): Promise<void>
}

/** Starts a server that does not wait for the disk. */
export async function startPostgres(): Promise<PostgresServer> {
  const { url, socketUrl, dispose } = await testPostgres()
  const pool = new pg.Pool({ connectionString: socketUrl, max: 8 })
  pool.on('error', () => {})
  // Every driver of a test listens for trouble.
  pool.setMaxListeners(0)
  pool.on('connect', (client) => client.on('error', () => {}))
  let made = 0
  const nextSchema = (): string => {
    made += 1
    return `tests_${process.pid}_${made}`
  }
  const free: string[] = []
  return {
    url,
    driver: () => postgresDriver({ pool, schema: nextSchema(), onWarning() {} }),
    create: () => subjectIn(pool, free.pop() ?? nextSchema(), free),
    async stop() {
      await pool.end()
      await dispose()
    },
  }
}

/** A subject in a schema that is emptied after it, and goes back to those that are free. */
function subjectIn(pool: pg.Pool, schema: string, free: string[]): Subject {
  const make = () => postgresDriver({ pool, schema, onWarning() {} })
  return {
    driver: make(),
    clock: fakeClock(),
    restart: make,
    peer: make,
    async begin() {
      const client = await pool.connect()
      await client.query('begin')
      const end = async (how: 'commit' | 'rollback'): Promise<void> => {
        await client.query(how)
        client.release()
      }
      return { handle: client, commit: () => end('commit'), rollback: () => end('rollback') }
    },
    async dispose() {
      const tables = ['keys', 'queues', 'buckets', 'workers', 'history', 'failed_runs']
      const emptied = tables.map((table) => `delete from ${schema}.${table}`)
      await pool.query([...emptied, `select setval('${schema}.ahead', 0, false)`].join('; '))
      free.push(schema)
    },
  }
}
