import { redisDriver } from '@sluice/redis'
import { type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll } from 'vitest'
import type { StoreKind } from './store-kind.ts'

/** Redis as one more kind of store, on a server that runs while the tests of the file do. */
export function redisKind(): StoreKind {
  let server: RedisProcess | undefined
  let made = 0
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(async () => {
    await server?.dispose()
  })
  return {
    name: 'redis',
    make() {
      if (server === undefined) throw new Error('the server is not up yet')
      made += 1
      return redisDriver({ url: server.url, prefix: `s${made}:` })
    },
  }
}
