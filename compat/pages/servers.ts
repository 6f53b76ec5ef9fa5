import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import { type RedisProcess, startRedis } from '@sluice/test-redis'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'

/** The addresses of the servers that the tests of a file share. */
export interface Servers {
  readonly postgres: string
  readonly redis: string
}

/** Starts the servers before the tests of a file, which stop with them. */
export function serversOfFile(): Servers {
  let server: PostgresServer
  let redis: RedisProcess
  beforeAll(async () => {
    server = await testPostgres()
    redis = await startRedis()
  })
  afterAll(async () => {
    await untilAlone(server.url)
    await server.dispose()
    await redis.dispose()
  })
  return {
    get postgres() {
      return server.url
    },
    get redis() {
      return redis.url
    },
  }
}

/**
 * Waits for connections that a library has given up, and the server has not closed yet: one that is told
 * that the server stops throws, as its library has ended.
 */
export async function untilAlone(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const others =
    "select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
  while ((await client.query(others)).rows.length > 0);
  await client.end()
}
