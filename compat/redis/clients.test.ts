/**
 * The oldest promised and the newest version of both libraries, on one server, with Sentinels and in a
 * cluster: adds, wake-ups of another driver object, finishes, and what follows a failover.
 */
import { type RedisOptions, redisDriver } from '@sluice/redis'
import {
  type RedisCluster,
  type RedisProcess,
  type SentinelRedis,
  startCluster,
  startRedis,
  startSentinel,
} from '@sluice/test-redis'
import * as newestIoredis from 'ioredis'
// The class is its default export alone.
import oldestIoredis from 'ioredis-oldest'
import * as newestRedis from 'redis'
import * as oldestRedis from 'redis-oldest'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'

/** Its default export is the class. */
const { default: OldestRedis, Cluster: OldestCluster } = oldestIoredis

type Client = NonNullable<RedisOptions['client']>

/**
 * For how long clients wait for a server that is held up.
 */
const heldUpMsMax = 30_000

let single: RedisProcess
let sentinel: SentinelRedis
let cluster: RedisCluster

beforeAll(async () => {
  ;[single, sentinel, cluster] = await Promise.all([startRedis(), startSentinel(), startCluster()])
})

afterAll(async () => {
  await Promise.all([single.dispose(), sentinel.dispose(), cluster.dispose()])
})

/** The name of a setting, and a client that has it. */
type Unsafe = readonly (readonly [string, () => Client])[]

const safe = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  socketTimeout: heldUpMsMax,
}
const safeCluster = {
  lazyConnect: true,
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  redisOptions: safe,
}
const host = '127.0.0.1'

function ioredisOf({ Redis, Cluster }: Pick<typeof newestIoredis, 'Redis' | 'Cluster'>) {
  return {
    single: () => new Redis({ ...safe, port: single.port }),
    sentinel: () =>
      new Redis({
        ...safe,
        sentinels: sentinel.sentinels.map(({ port }) => ({ host, port })),
        name: sentinel.name,
      }),
    cluster: () => {
      const nodes = cluster.nodes.map(({ port }) => ({ host, port }))
      const client = new Cluster(nodes, safeCluster)
      onTestFinished(() => client.disconnect())
      return client
    },
    unsafe: [
      ['enableOfflineQueue', () => new Redis({ ...safe, enableOfflineQueue: true })],
      [
        'autoResendUnfulfilledCommands',
        () => new Redis({ ...safe, autoResendUnfulfilledCommands: true }),
      ],
      ['socketTimeout', () => new Redis({ ...safe, socketTimeout: undefined })],
      ['scaleReads', () => new Cluster([], { ...safeCluster, scaleReads: 'slave' })],
      ['retryDelayOnFailover', () => new Cluster([], { ...safeCluster, retryDelayOnFailover: 50 })],
    ] satisfies Unsafe as Unsafe,
  }
}

const others = { disableOfflineQueue: true }
const settings = { disableOfflineQueue: true, socket: { socketTimeout: heldUpMsMax } }

function nodeRedisOf(library: typeof newestRedis | typeof oldestRedis) {
  const { createClient, createCluster, createSentinel } = library as typeof newestRedis
  return {
    single: () => createClient({ ...settings, socket: { ...settings.socket, port: single.port } }),
    cluster: async () => {
      const [{ port } = { port: 0 }] = cluster.nodes
      const rootNodes = [{ socket: { host, port } }]
      const client = createCluster({ rootNodes, defaults: settings })
      await client.connect()
      onTestFinished(() => client.destroy())
      return client
    },
    unsafe: [
      ['disableOfflineQueue', () => createClient({ ...settings, disableOfflineQueue: false })],
      ['socket.socketTimeout', () => createClient({ ...settings, socket: {} })],
      ['readonly', () => createClient({ ...settings, readonly: true })],
      ['redis-sentinel://', () => createSentinel({ name: 'a', sentinelRootNodes: [] })],
    ] satisfies Unsafe as Unsafe,
  }
}

const oldest = {
  Redis: OldestRedis,
  Cluster: OldestCluster,
} as unknown as typeof newestIoredis

const libraries = {
  'ioredis 5.0.0': ioredisOf(oldest),
  'ioredis 6': ioredisOf(newestIoredis),
  'node-redis 5.0.0': nodeRedisOf(oldestRedis),
  'node-redis 6': nodeRedisOf(newestRedis),
}

let queues = 0
const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const request = { limit: 100, holder: 'holder', leaseMs: 30_000 } as const

async function opened(options: RedisOptions): Promise<ReturnType<typeof redisDriver>> {
  const driver = redisDriver(options)
  await driver.open({})
  onTestFinished(() => driver.close())
  return driver
}

/** Of two drivers, one is woken by what the other adds, claims it in its order, and finishes it. */
async function worksOn(make: () => Client | Promise<Client>, isWoken = true): Promise<void> {
  queues += 1
  const queue = `orders ${queues}`
  const [adding, taking] = [
    await opened({ client: await make() }),
    await opened({ client: await make() }),
  ]
  const woken = Promise.withResolvers<void>()
  const unwatch = await taking.watch?.((name) => name === queue && woken.resolve())
  expect((await taking.claim(queue, { ...request, claimId: 'none' })).claims).toEqual([])
  const keys = Array.from({ length: 20 }, (_, at) => `key ${at}`)
  const asks = keys.map((key) => ({ key, item: undefined, priority: 0, delayMs: 0 }))
  await adding.add(queue, asks, options)
  if (isWoken) await woken.promise
  const { claims } = await taking.claim(queue, { ...request, claimId: 'all' })
  expect(claims.map(({ key }) => key)).toEqual(keys)
  const done = claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const)
  const finished = await taking.finish(queue, done, options)
  expect(finished.map((reply) => reply.outcome)).toEqual(keys.map(() => 'idle'))
  await unwatch?.()
}

/** What was acknowledged is there after another server has become the primary. */
async function followFailover(
  clients: readonly Client[],
  failOver: () => Promise<void>,
): Promise<void> {
  queues += 1
  const queue = `orders ${queues}`
  const ask = { item: undefined, priority: 0, delayMs: 0 }
  const drivers = await Promise.all(clients.map((client) => opened({ client })))
  await drivers[0]?.add(queue, [{ key: 'before', ...ask }], options)
  // Waits for the replica.
  await drivers[0]?.operate?.park(queue, ['before'])
  await failOver()
  for (const driver of drivers) {
    const keys = async () => (await driver.list(queue, { limit: 10 })).rows.map(({ key }) => key)
    await expect.poll(keys, { timeout: 120_000 }).toEqual(['before'])
  }
}

async function sentinelsPromoteReplica(): Promise<void> {
  const first = await sentinel.primary()
  // Until it knows the state of the replica, it promotes none.
  const promote = () => sentinel.sentinels[0]?.command('SENTINEL', 'FAILOVER', sentinel.name)
  await vi.waitFor(promote, { timeout: 20_000 })
  await sentinel.promoted(first)
}

async function replicaOfClusterTakesOver(): Promise<void> {
  const key = `sluice:{orders ${queues}}:rows`
  const first = await cluster.primaryOf(key)
  const replica = await cluster.replicaOf(first)
  await cluster.failOver(replica)
  await cluster.promoted(key, first)
  await cluster.healthy()
}

test('clients of every version are of the type that the driver accepts', () => {
  const clients: readonly Client[] = [
    new OldestRedis(safe),
    new OldestCluster([], safeCluster),
    new newestIoredis.Redis(safe),
    new newestIoredis.Cluster([], safeCluster),
    oldestRedis.createClient({ socket: { ...settings.socket, port: 1 }, ...others }),
    newestRedis.createClient({ socket: { ...settings.socket, port: 1 }, ...others }),
  ]
  for (const client of clients) redisDriver({ client })
})

interface Library {
  readonly single: () => Client
  readonly cluster: () => Client | Promise<Client>
  readonly sentinel?: () => Client
  readonly unsafe: Unsafe
}

describe.each(Object.entries<Library>(libraries))('%s', (name, library) => {
  // Before version 5.3, ioredis knows no messages of a cluster: a queue then looks every ten seconds.
  const isWoken = name !== 'ioredis 5.0.0'

  test('on one server', () => worksOn(library.single))

  test('in a cluster, through a failover', async () => {
    await worksOn(library.cluster, isWoken)
    await followFailover([await library.cluster()], replicaOfClusterTakesOver)
  })

  test.runIf(library.sentinel)('with Sentinels', () => worksOn(library.sentinel ?? library.single))

  test.each(library.unsafe)('a client with unsafe settings is refused: %s', (setting, make) => {
    const client = make()
    expect(() => redisDriver({ client })).toThrow(setting)
  })
})

test('both versions of ioredis follow the Sentinels through a failover', async () => {
  const clients = [libraries['ioredis 5.0.0'].sentinel(), libraries['ioredis 6'].sentinel()]
  await followFailover(clients, sentinelsPromoteReplica)
})
