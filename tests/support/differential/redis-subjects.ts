import type { CreateSubject } from '@sluice/conformance'
import { fakeClock } from '@sluice/core/testing'
import { redisDriver } from '@sluice/redis'
import { startRedis } from '@sluice/test-redis'

/** Starts a Redis for subjects, of which each has a prefix of its own. */
export async function startRedisSubjects(): Promise<{
  readonly create: CreateSubject
  stop(): Promise<void>
}> {
  const server = await startRedis()
  let made = 0
  return {
    create() {
      made += 1
      const prefix = `s${made}:`
      const make = () => redisDriver({ url: server.url, prefix })
      return { driver: make(), clock: fakeClock(), restart: make, peer: make }
    },
    stop: async () => await server.dispose(),
  }
}
