import assert from 'node:assert/strict'
import { hasRedis, type RedisCluster, slotOf, startCluster } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConnectionError } from '../../src/connection/connections.ts'
import { libraries, open } from './support.ts'

const quiet = { onMessage: () => {}, onGap: () => {} }

describe.skipIf(!hasRedis)('a slot that moves away and back at once', () => {
  let cluster: RedisCluster

  beforeAll(async () => {
    cluster = await startCluster()
  })

  afterAll(() => cluster.dispose())

  const url = (): string =>
    `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`

  /** The server ends the subscriptions. When the table of slots is read, nothing in it has changed. */
  const moveAndBack = async (key: string) => {
    const owner = await cluster.primaryOf(key)
    const other = (await cluster.primaries()).find((node) => node !== owner)
    assert.ok(other)
    const setSlot = (id: string) =>
      owner.process.command('CLUSTER', 'SETSLOT', slotOf(key), 'NODE', id)
    await Promise.all([setSlot(other.id), setSlot(owner.id)])
    return owner.process
  }

  test.each(libraries)('keeps its subscription while a call waits, with %s', async (library) => {
    // The call that waits must not end the connection.
    const connections = await open({ url: url(), library, timeoutMs: 300_000 })
    const [channel, list] = ['{a}:wake', '{a}:list']
    await connections.subscribe(channel, quiet)
    connections.send(list, ['BLPOP', list, '0']).catch(() => {})
    const server = (await cluster.primaryOf(channel)).process
    await expect.poll(() => server.info('blocked_clients')).toBe('1')
    await moveAndBack(channel)
    await expect.poll(() => server.command('SPUBLISH', channel, 'hello')).toBe(1)
  })

  test.each(libraries)('gives no call the reply to another, with %s', async (library) => {
    const connections = await open({ url: url(), library })
    const [list, other] = [`{b}:${library}`, '{b}:other']
    // node-redis takes the end of the second one for the reply that it waits for.
    for (const channel of ['{b}:1', '{b}:2']) await connections.subscribe(channel, quiet)
    const replies = Promise.allSettled([
      connections.send(list, ['BLPOP', list, '0']),
      connections.send(list, ['ECHO', 'echo']),
    ])
    await expect
      .poll(async () => (await cluster.primaryOf(list)).process.info('blocked_clients'))
      .toBe('1')
    const server = await moveAndBack(list)
    await server.command('RPUSH', list, 'item')
    const settled = await replies
    // A slot with keys cannot be moved by the other tests.
    await server.command('DEL', list)
    const expected = [[list, 'item'], 'echo']
    for (const [index, reply] of settled.entries()) {
      if (reply.status === 'fulfilled') assert.deepEqual(reply.value, expected[index])
      else assert.ok(reply.reason instanceof ConnectionError && reply.reason.wasSent)
    }
    await expect.poll(() => connections.send(other, ['GET', other]).catch(() => '')).toBe(null)
  })
})
