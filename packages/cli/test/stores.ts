import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll } from 'vitest'
import { output, scratchFolder } from './cli.ts'

/** A kind of store, and how to make a new one. */
export interface StoreKind {
  readonly kind: 'SQLite' | 'Postgres' | 'Redis'
  /** The address of a store that is there and empty. */
  fresh(): Promise<string>
}

/** A server for all tests of a file; schemas, each with a name of its own, keep them apart, and from other files. */
export function postgresForFile(): { url(): string; fresh(): Promise<string>; bare(): string } {
  let server: PostgresServer | undefined
  beforeAll(async () => {
    server = await testPostgres()
  })
  afterAll(() => server?.dispose())
  const url = (): string => server?.url ?? ''
  const bare = (): string => `${url()}?schema=cli_${randomUUID().replaceAll('-', '_')}`
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

/** A Redis for all tests of a file; prefixes keep them apart. */
function redisForFile(): { fresh(): Promise<string> } {
  let server: RedisProcess | undefined
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.dispose())
  let made = 0
  return {
    async fresh() {
      made += 1
      return `${server?.url ?? ''}?prefix=cli${made}:`
    },
  }
}

/** The address of a SQLite file that does not exist yet. */
export function newFile(): string {
  return `sqlite:${join(scratchFolder(), 'queue.db')}`
}

/** The kinds of store, for tests that say the same of each. */
export function storeKinds(): readonly StoreKind[] {
  const postgres = postgresForFile()
  const redis: StoreKind[] = hasRedis ? [{ kind: 'Redis', fresh: redisForFile().fresh }] : []
  return [
    ...redis,
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
