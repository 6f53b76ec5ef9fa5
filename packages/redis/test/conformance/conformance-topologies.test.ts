import { allCases, type Case } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { hasRedis, onDisk, startCluster, startRedis, startSentinel } from '@sluice/test-redis'
import { afterAll, beforeAll, describe } from 'vitest'
import type { RedisOptions } from '../../src/index.ts'
import { subjectsOn } from '../support/subjects.ts'

/** Servers, and the options of a driver on them. */
interface Topology {
  readonly options: RedisOptions
  dispose(): Promise<void>
}

const hostsOf = (urls: readonly string[]): string => urls.map((url) => new URL(url).host).join(',')

async function cluster(options: Partial<RedisOptions>): Promise<Topology> {
  const started = await startCluster()
  const url = `redis-cluster://${hostsOf(started.urls)}`
  return { options: { url, ...options }, dispose: () => started.dispose() }
}

const topologies: Readonly<Record<string, () => Promise<Topology>>> = {
  'a cluster of six': () => cluster({}),
  'a cluster of six, ioredis': () => cluster({ library: 'ioredis' }),
  'one slot of a cluster': () => cluster({ oneSlot: true }),
  async 'Sentinel with one replica'() {
    const started = await startSentinel()
    const hosts = hostsOf(started.sentinels.map(({ url }) => url))
    return {
      options: { url: `redis-sentinel://${hosts}/${started.name}` },
      dispose: () => started.dispose(),
    }
  },
  async 'a server that syncs every write'() {
    const server = await startRedis({ settings: onDisk })
    return { options: { url: server.url }, dispose: () => server.dispose() }
  },
  async 'one server, ioredis'() {
    const server = await startRedis()
    return { options: { url: server.url, library: 'ioredis' }, dispose: () => server.dispose() }
  },
}

/**
 * Which topologies are examined, and how much: `npm test` runs the cases that do not search on a
 * cluster; with `SLUICE_REDIS_TOPOLOGIES=all`, every case runs on every topology.
 */
const isWhole = process.env['SLUICE_REDIS_TOPOLOGIES'] === 'all'
const chosen = isWhole ? Object.entries(topologies) : Object.entries(topologies).slice(0, 1)
const isSearch = ({ id }: Case): boolean => /^(model|histories|size)\./.test(id)
const cases = isWhole ? allCases : allCases.filter((each) => !isSearch(each))

describe.skipIf(!hasRedis)('redis-server', () => {
  for (const [name, start] of chosen) {
    describe('servers', () => {
      let topology: Topology

      beforeAll(async () => {
        topology = await start()
      })

      afterAll(() => topology.dispose())

      examine(
        name,
        subjectsOn(() => topology.options),
        { cases, timeoutMs: 180_000 },
      )
    })
  }
})
