import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import { type RedisProcess, startRedis } from '@sluice/test-redis'
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
