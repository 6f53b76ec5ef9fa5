import assert from 'node:assert/strict'
import {
  hasRedis,
  type RedisCluster,
  type RedisProcess,
  startCluster,
  startRedis,
  startSentinel,
} from '@sluice/test-redis'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { RedisClient } from '../../src/clients/client-shapes.ts'
import { checkConnectionOptions } from '../../src/connection/open-connections.ts'
import { open } from './support.ts'

const safe = {
  nodeRedis: { disableOfflineQueue: true, socket: { socketTimeout: 5_000 } },
  ioredis: {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    socketTimeout: 5_000,
  },
} as const

const safeCluster = {
  lazyConnect: true,
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  redisOptions: safe.ioredis,
} as const

const handIn = (client: object): void => checkConnectionOptions({ client: client as RedisClient })

function nodeRedis(more: object): object {
  const { socket, ...others } = { socket: {}, ...more } as { socket: object }
  return createClient({
    ...safe.nodeRedis,
    ...others,
    socket: { ...safe.nodeRedis.socket, ...socket },
  })
}

function ioredis(more: object): object {
  const client = new Redis({ ...safe.ioredis, ...more })
  onTestFinished(() => client.disconnect())
  return client
}

function ioredisCluster(more: object): object {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { ...safeCluster, ...more })
  onTestFinished(() => cluster.disconnect())
  return cluster
}

test('a client with safe settings is accepted', () => {
  handIn(nodeRedis({}))
  handIn(ioredis({}))
  handIn(ioredisCluster({}))
})

test.each<[string, () => object]>([
  ['disableOfflineQueue', () => nodeRedis({ disableOfflineQueue: false })],
  ['socket.socketTimeout', () => nodeRedis({ socket: { socketTimeout: 0 } })],
  ['readonly', () => nodeRedis({ readonly: true })],
  ['keyPrefix', () => nodeRedis({ keyPrefix: 'app:' })],
  ['useReplicas', () => createCluster({ rootNodes: [], useReplicas: true })],
  ['redis-sentinel://', () => createSentinel({ name: 'a', sentinelRootNodes: [] })],
  ['enableOfflineQueue', () => ioredis({ enableOfflineQueue: true })],
  ['autoResendUnfulfilledCommands', () => ioredis({ autoResendUnfulfilledCommands: true })],
  ['socketTimeout', () => ioredis({ socketTimeout: undefined })],
  ['readOnly', () => ioredis({ readOnly: true })],
  ['keyPrefix', () => ioredis({ keyPrefix: 'app:' })],
  ["role: 'slave'", () => ioredis({ sentinels: [{ host: 'a' }], name: 'b', role: 'slave' })],
  ['scaleReads', () => ioredisCluster({ scaleReads: 'slave' })],
  ['enableOfflineQueue', () => ioredisCluster({ enableOfflineQueue: true })],
  ['retryDelayOnFailover', () => ioredisCluster({ retryDelayOnFailover: 100 })],
  ['autoResendUnfulfilledCommands', () => ioredisCluster({ redisOptions: {} })],
  ['keyPrefix', () => ioredisCluster({ keyPrefix: 'app:' })],
  ['must be a client', () => new Map()],
  ['version 5 or newer', () => ({ sSubscribe() {}, duplicate() {}, disconnect() {} })],
])('a client is refused, and the error names %s', (setting, make) => {
  assert.throws(
    () => handIn(make()),
    (error: Error) => {
      assert.equal((error as { code?: string }).code, 'ERR_INVALID_INPUT')
      assert.ok(error.message.includes(setting), error.message)
      return true
    },
  )
})

test.each([
  ['url', { url: null }],
  ['url', { url: new URL('redis://a') }],
  ['client', { client: null }],
  ['client', { client: 'redis://a' }],
  ['library', { url: 'redis://a', library: 'node-redis' }],
  ['tls', { url: 'rediss://a', tls: true }],
  // The connection would not be encrypted.
  ['tls', { url: 'redis://a', tls: {} }],
  ['tls', { url: 'redis-sentinel://a:1/b', tls: { ca: 'x' } }],
  ['sentinelUsername', { url: 'redis-sentinel://a:1/b', sentinelUsername: 5 }],
  ['sentinelPassword', { url: 'redis-sentinel://a:1/b', sentinelPassword: null }],
])('a wrong %s is named', (parameter, options) => {
  assert.throws(() => checkConnectionOptions(options as never), {
    code: 'ERR_INVALID_INPUT',
    parameter,
  })
})

test('an address or a client, and not both', () => {
  assert.throws(() => checkConnectionOptions({}), /exactly one of url and client/)
  const client = nodeRedis({}) as RedisClient
  assert.throws(() => checkConnectionOptions({ url: 'redis://a', client }), /exactly one/)
})

describe.skipIf(!hasRedis)('with the settings of a client that is handed in', () => {
  let server: RedisProcess
  let cluster: RedisCluster

  beforeAll(async () => {
    server = await startRedis({ settings: ['requirepass secret'], password: 'secret' })
    cluster = await startCluster()
  })

  afterAll(async () => {
    await server.dispose()
    await cluster.dispose()
  })

  test.each([
    [
      'node-redis',
      () => nodeRedis({ password: 'secret', database: 2, socket: { port: server.port } }),
    ],
    ['ioredis', () => ioredis({ password: 'secret', db: 2, port: server.port })],
  ])('%s: its password and database are used, and its own connection is not', async (_, make) => {
    const connections = await open({ client: make() as RedisClient })
    await connections.send('a', ['SET', 'a', '1'])
    await server.command('SELECT', 2)
    assert.equal(await server.command('GET', 'a'), '1')
    await server.command('FLUSHDB')
    assert.equal(await connections.send('a', ['GET', 'a']), null)
  })

  test('node-redis: a limit of its queue of commands does not count for what queues send', async () => {
    const socket = { port: server.port }
    const client = nodeRedis({ password: 'secret', commandsQueueMaxLength: 1, socket })
    const connections = await open({ client: client as RedisClient })
    const pings = Array.from({ length: 10 }, () => connections.send('a', ['PING']))
    assert.deepEqual(new Set(await Promise.all(pings)), new Set(['PONG']))
  })

  test.each([
    [
      'node-redis',
      () => {
        const commandOptions = { typeMapping: { 36: Buffer, 58: String } }
        return nodeRedis({ password: 'secret', commandOptions, socket: { port: server.port } })
      },
    ],
    [
      'ioredis',
      () => {
        const reading = { stringNumbers: true, protocol: 3, replyMapping: 'resp3' }
        return ioredis({ password: 'secret', port: server.port, ...reading })
      },
    ],
  ])('%s: settings for the reading of replies do not count', async (_, make) => {
    const connections = await open({ client: make() as RedisClient })
    assert.equal(await connections.send('h', ['HSET', 'h', 'a', '1']), 1)
    assert.deepEqual(await connections.send('h', ['HGETALL', 'h']), ['a', '1'])
    assert.equal(await connections.send('h', ['DEL', 'h']), 1)
  })

  test('a cluster of node-redis that is connected', async () => {
    const [{ port } = { port: 0 }] = cluster.nodes
    const client = createCluster({
      rootNodes: [{ socket: { host: '127.0.0.1', port } }],
      defaults: safe.nodeRedis,
    })
    await expect(open({ client: client as unknown as RedisClient })).rejects.toThrow('connect it')
    await client.connect()
    onTestFinished(() => client.destroy())
    await writeToAll(client)
  })

  test('a cluster of ioredis', async () => {
    const client = new Cluster(
      cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      safeCluster,
    )
    onTestFinished(() => client.disconnect())
    await writeToAll(client)
  })

  test('ioredis with Sentinels follows a failover', async () => {
    const servers = await startSentinel()
    onTestFinished(() => servers.dispose())
    const sentinels = servers.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
    const connections = await open({
      client: ioredis({ sentinels, name: servers.name }) as RedisClient,
    })
    const barrier = await connections.barrier('a')
    await connections.send('a', ['SET', 'a', '1'])
    await barrier.confirmed(1, 30_000)
    const first = await servers.primary()
    await first.kill()
    await servers.promoted(first)
    await expect.poll(() => connections.send('a', ['GET', 'a']).catch(() => '')).toBe('1')
  })
})

async function writeToAll(client: object): Promise<void> {
  const connections = await open({ client: client as RedisClient })
  const keys = Array.from({ length: 20 }, (_, n) => `key ${n}`)
  await Promise.all(keys.map((key) => connections.send(key, ['SET', key, key])))
  assert.equal(new Set(keys.map((key) => connections.primaryOf(key))).size, 3)
  const values = await Promise.all(keys.map((key) => connections.send(key, ['GET', key])))
  assert.deepEqual(values, keys)
}
