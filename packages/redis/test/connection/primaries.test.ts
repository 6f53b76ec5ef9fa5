/** How a cluster of two nodes that are made up is followed. */
import assert from 'node:assert/strict'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Cluster } from '../../src/connection/cluster.ts'
import { OnePrimary } from '../../src/connection/one-primary.ts'
import { RedisConnections } from '../../src/connection/redis-connections.ts'
import { refusal } from './support.ts'
import { twoNodes } from './two-nodes.ts'

async function opened(only = 2) {
  const servers = twoNodes()
  const topology = new Cluster(servers.options, servers.nodes.slice(0, only))
  onTestFinished(() => topology.close())
  await topology.refresh()
  const connections = new RedisConnections(topology)
  return { ...servers, connections, topology }
}

const set = ['SET', 'key', 'value']

test('a primary that refuses writes counts as another one, and the new one is found', async () => {
  const { cluster, clock, connections } = await opened()
  assert.equal(await connections.send('key', set), 'OK of 1')
  const before = connections.primaryOf('key')
  let changes = 0
  connections.watchPrimaries(() => (changes += 1))
  await clock.step(1_000)
  cluster.refuses = [1, 'READONLY it is a replica now']
  cluster.primary = 2
  await refusal(connections.send('key', set))
  // What it answered before may be lost, also while no other primary is known.
  expect(connections.primaryOf('key')).not.toBe(before)
  expect(changes).toBe(1)
  await clock.step(1_000)
  assert.equal(await connections.send('key', set), 'OK of 2')
})

test('where the nodes of the address have ended, the others say which are the primaries', async () => {
  const { cluster, clock, connections, kill } = await opened(1)
  assert.equal(await connections.send('key', set), 'OK of 1')
  await clock.step(1_000)
  cluster.primary = 2
  kill(1)
  await clock.step(5_000)
  assert.equal(await connections.send('key', set), 'OK of 2')
})

test('a redirection without a host leads to the host of the server that answered', async () => {
  const { cluster, connections } = await opened()
  await connections.send('key', set)
  cluster.refuses = [1, 'MOVED 12539 :2']
  cluster.primary = 2
  assert.equal(await connections.send('key', set), 'OK of 2')
})

test('a redirection leads to a node that is new at the address of one that has gone', async () => {
  const { cluster, clock, connections, topology } = await opened()
  cluster.primary = 2
  await topology.refresh()
  await clock.step(5_000)
  cluster.first = 'id 3'
  cluster.refuses = [2, 'MOVED 12539 node:1']
  cluster.primary = 1
  assert.equal(await connections.send('key', set), 'OK of 1')
})

test('what replicas of the former primary of a slot have is not confirmed', async () => {
  const { cluster, clock, connections, topology } = await opened()
  const barrier = await connections.barrier('key')
  await barrier.confirmed(0, 100)
  await clock.step(1_000)
  cluster.primary = 2
  await topology.refresh()
  expect(await refusal(barrier.confirmed(0, 100))).toMatchObject({ wasSent: true })
})

describe('a subscription', () => {
  const quiet = { onMessage: () => {}, onGap: () => {} }

  test('moves to the new primary of its slot', async () => {
    const { cluster, clock, connections, listening, topology } = await opened()
    await connections.subscribe('key', quiet)
    expect([...listening]).toEqual([1])
    await clock.step(1_000)
    cluster.primary = 2
    await topology.refresh()
    await expect.poll(() => [...listening]).toEqual([2])
  })

  test('moves also if the slot gets another primary before it is there', async () => {
    const { cluster, clock, connections, listening, topology } = await opened()
    const { promise, resolve } = Promise.withResolvers<void>()
    cluster.subscribing = promise
    const subscribing = connections.subscribe('key', quiet)
    await clock.step(1_000)
    cluster.primary = 2
    await topology.refresh()
    resolve()
    await subscribing
    await expect.poll(() => [...listening]).toEqual([2])
  })
})

describe('one primary', () => {
  test('that refuses writes counts as another one, and the address is followed again', async () => {
    const { cluster, clock, options } = twoNodes()
    const address = { host: 'node', port: 1 }
    const topology = new OnePrimary(options, async () => ({ ...address }))
    onTestFinished(() => topology.close())
    await topology.refresh()
    const connections = new RedisConnections(topology)
    const before = connections.primaryOf('key')
    cluster.refuses = [1, 'READONLY it is a replica now']
    address.port = 2
    await refusal(connections.send('key', set))
    expect(connections.primaryOf('key')).not.toBe(before)
    await clock.step(1_000)
    assert.equal(await connections.send('key', set), 'OK of 2')
  })
})
