import { testPostgres } from '@sluice/test-postgres'
import pg from 'pg'

/** A server to test against: our own, or the one that `SLUICE_TEST_POSTGRES_URL` names. */
export interface TestServer {
  /** How to connect as a superuser. */
  readonly url: string
  /** The same through a Unix socket, where there are some. */
  readonly socketUrl: string
  /** Where it listens. */
  readonly port: number
  /** Stops it without warning, as a crash would. Only our own server. */
  crash(): Promise<void>
  /** Starts it again. Only our own server. */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts a server. It does not wait for the disk, unless a test is about crashes of the machine;
 * what a crash of the server leaves behind is the same.
 */
export async function startServer(flags: readonly string[] = []): Promise<TestServer> {
  const { dispose, ...server } = await testPostgres({
    settings: ['max_connections=200', ...flags.filter((flag) => flag !== '-c')],
  })
  return { ...server, stop: dispose }
}

/** The database of an address. */
export function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** A statement that returns the connections to this database that wait for a lock. */
export const lockWaits =
  "select * from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"

/** Sends statements one after another on a connection of their own. */
export async function sql(url: string, ...texts: readonly string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const results: pg.QueryResult[] = []
    for (const text of texts) results.push(await client.query(text))
    return results
  } finally {
    await client.end()
  }
}

/**
 * A pool that does not mind when the server goes away: it has ended before its connections have, and the
 * server may stop in between.
 */
export function poolOf(url: string, max = 8): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max, allowExitOnIdle: true })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
