import type { CreateSubject } from '@sluice/conformance'
import { fakeClock } from '@sluice/core/testing'
import { type RedisOptions, redisDriver } from '@sluice/redis'
import { startCluster, startRedis } from '@sluice/test-redis'

/** Servers for subjects. */
export interface SubjectServer {
  readonly create: CreateSubject
  stop(): Promise<void>
}

/** Subjects on the same servers, of which each has a prefix of its own. */
function subjectsOn(server: { dispose(): Promise<void> }, options: RedisOptions): SubjectServer {
  let made = 0
  return {
    create() {
      made += 1
      const prefix = `s${made}:`
      const make = () => redisDriver({ ...options, prefix })
      return { driver: make(), clock: fakeClock(), restart: make, peer: make }
    },
    stop: async () => await server.dispose(),
  }
}

/** Starts a Redis. */
export async function startRedisSubjects(): Promise<SubjectServer> {
  const server = await startRedis()
  return subjectsOn(server, { url: server.url })
}

/** Starts a cluster, over which every store is spread, or of which it uses one slot. */
export async function startClusterSubjects(oneSlot: boolean): Promise<SubjectServer> {
  const cluster = await startCluster()
  const hosts = cluster.urls.map((url) => new URL(url).host).join(',')
  return subjectsOn(cluster, { url: `redis-cluster://${hosts}`, oneSlot })
}
