import assert from 'node:assert/strict'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, startRedis, startReplicated } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Address, Link, type OpenClient } from '../../src/clients/link.ts'
import { Cluster } from '../../src/connection/cluster.ts'
import { OnePrimary } from '../../src/connection/one-primary.ts'
import { RedisConnections } from '../../src/connection/redis-connections.ts'
import { askSentinels } from '../../src/connection/sentinel.ts'
import { redisDriver } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'
import { libraries, open, refusal } from './support.ts'
import { twoNodes } from './two-nodes.ts'

/** How long a silent server is waited for, in milliseconds: longer than a close takes. */
const silentMs = 20_000

describe.skipIf(!hasRedis)('the close of a driver', () => {
  describe.each(libraries)('with %s', (library) => {
    test('does not wait for a server that is silent', async () => {
      const { primary, dispose } = await startReplicated()
      onTestFinished(dispose)
      const proxy = await StoreProxy.start(primary.port)
      onTestFinished(() => proxy.stop())
      const url = `redis://127.0.0.1:${proxy.port}`
      const driver = redisDriver({ url, library, timeoutMs: silentMs })
      await driver.open({})
      const unwatch = await driver.watch?.(() => {})
      await driver.add('q', [ask('key')], askOptions)
      await proxy.become('silent')
      const late = refusal(Promise.resolve(driver.counts('q', { cap: 1 })))
      await unwatch?.()
      await driver.close()
      // The close has ended the call, and not the time for its answer.
      assert.match(String(await late), /was closed/)
    })

    test('waits for what the replicas do not have yet', async () => {
      const { primary, dispose } = await startReplicated()
      onTestFinished(dispose)
      const driver = redisDriver({ url: primary.url, library })
      await driver.open({})
      await driver.add('q', [ask('key')], askOptions)
      const waits = async (): Promise<number> => {
        const stats = String(await primary.command('INFO', 'commandstats'))
        return Number(/^cmdstat_wait:calls=(\d+)/m.exec(stats)?.[1])
      }
      const before = await waits()
      await driver.close()
      expect(await waits()).toBeGreaterThan(before)
    })

    test('ends a connection that is being opened', async () => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const proxy = await StoreProxy.start(server.port)
      onTestFinished(() => proxy.stop())
      const url = `redis://127.0.0.1:${proxy.port}`
      const connections = await open({ url, library, timeoutMs: silentMs })
      await proxy.become('cut')
      await refusal(connections.send('k', ['PING']))
      await proxy.become('silent')
      // Between two attempts, calls are refused at once.
      let opening = refusal(connections.send('k', ['PING']))
      const isOpening = async (): Promise<boolean> => {
        const nextTurn = new Promise((resolve) => void setImmediate(resolve))
        if ((await Promise.race([opening, nextTurn])) === undefined) return true
        opening = refusal(connections.send('k', ['PING']))
        return false
      }
      await expect.poll(isOpening).toBe(true)
      await connections.close()
      assert.match(String(await opening), /was closed/)
    })
  })
})

describe('while the primary is looked for, a close', () => {
  test('leaves no connection to one that has just taken over', async () => {
    const { nodes, cluster, clock, open, options } = twoNodes()
    const topology = new Cluster(options, nodes)
    await topology.refresh()
    await topology.serverOf('key').connect()
    expect(open.size).toBe(1)
    cluster.isSilent = true
    const looking = refusal(topology.refresh())
    topology.close()
    Object.assign(cluster, { primary: 2, isSilent: false })
    assert.match(String(await looking), /was closed/)
    expect([open.size, clock.waiters()]).toEqual([0, 0])
  })

  test('ends the connection to a node that is asked', async () => {
    const { nodes, cluster, open, options } = twoNodes()
    cluster.isSilent = true
    const topology = new Cluster(options, nodes)
    const looking = refusal(topology.refresh())
    await expect.poll(() => open.size).toBe(1)
    topology.close()
    expect(open.size).toBe(0)
    assert.match(String(await looking), /was closed/)
  })

  test('opens none to the address that is found', async () => {
    const { options, begun } = twoNodes()
    const found = Promise.withResolvers<Address>()
    const topology = new OnePrimary(options, () => found.promise)
    const looking = refusal(topology.refresh())
    topology.close()
    found.resolve({ host: 'node', port: 1 })
    assert.match(String(await looking), /was closed/)
    expect(begun()).toBe(0)
  })

  test('opens none to the address where another primary may be', async () => {
    const { clock, options, begun } = twoNodes()
    const address = { host: 'node', port: 1 }
    const found = Promise.withResolvers<Address>()
    const answers = [Promise.resolve(address), found.promise]
    const topology = new OnePrimary(options, () => answers.shift()!)
    await topology.refresh()
    topology.suspect()
    topology.close()
    found.resolve(address)
    await clock.step(0)
    expect([answers.length, begun()]).toEqual([0, 1])
  })

  test('ends the connections to Sentinels that are asked, and to a server that they name', async () => {
    const { nodes, clock, options, ...sentinels } = twoNodes()
    const servers = twoNodes()
    const topology = new OnePrimary(servers.options, (signal) => {
      const open = (address: Address, onBegin: (link: Link) => void) =>
        Link.open(options, address, onBegin)
      return askSentinels(clock, nodes, 'main', open, signal).then(() => ({
        host: 'node',
        port: 1,
      }))
    })
    await topology.refresh()
    expect([sentinels.begun(), sentinels.open.size]).toEqual([2, 0])
    sentinels.cluster.isSilent = true
    topology.suspect()
    await expect.poll(() => sentinels.open.size).toBe(2)
    topology.close()
    expect(sentinels.open.size).toBe(0)
    await clock.step(0)
    expect(servers.begun()).toBe(1)
  })

  test('ends the connection to a server that may be another primary', async () => {
    const { open, options } = twoNodes()
    let isHeld = false
    const openClient: OpenClient = async (address, events) => {
      const client = await options.openClient(address, events)
      if (isHeld) await new Promise(() => {})
      return client
    }
    const address = () => ({ host: 'node', port: 1 })
    const topology = new OnePrimary({ ...options, openClient }, async () => address())
    await topology.refresh()
    isHeld = true
    topology.suspect()
    await expect.poll(() => open.size).toBe(2)
    topology.close()
    expect(open.size).toBe(0)
  })
})

test('a Sentinel that is silent keeps no connection once the others agree', async () => {
  const [answering, silent] = [twoNodes(), twoNodes()]
  silent.cluster.isSilent = true
  const hosts = [1, 2, 3].map((port) => ({ host: 'node', port }))
  const open = (address: Address & { readonly port: number }, onBegin: (link: Link) => void) =>
    Link.open((address.port === 3 ? silent : answering).options, address, onBegin)
  const asked = askSentinels(answering.clock, hosts, 'main', open, new AbortController().signal)
  expect(await asked).toHaveProperty('port')
  expect([silent.begun(), silent.open.size]).toEqual([1, 0])
})

describe('the close of a primary', () => {
  const subscription = { onMessage: () => {}, onGap: () => {} }

  test('ends all of its connections, and leaves no timer', async () => {
    const { cluster, clock, open, options, begun } = twoNodes()
    const topology = new OnePrimary(options, async () => ({ host: 'node', port: 1 }))
    const connections = new RedisConnections(topology)
    await topology.refresh()
    await connections.barrier('key')
    await connections.subscribe('channel', subscription)
    expect([open.size, begun()]).toEqual([3, 3])
    cluster.isSilent = true
    const asked = refusal(connections.send('key', ['GET', 'key']))
    await connections.close()
    expect([open.size, clock.waiters()]).toEqual([0, 0])
    assert.match(String(await asked), /was closed/)
    await clock.step(60_000)
    expect(begun()).toBe(3)
  })

  test('ends the rest between two attempts to connect', async () => {
    const { cluster, clock, options, begun } = twoNodes()
    cluster.isAway = true
    const topology = new OnePrimary(options, async () => ({ host: 'node', port: 1 }))
    await refusal(topology.refresh())
    topology.close()
    assert.match(String(await refusal(topology.refresh())), /is closed/)
    expect([clock.waiters(), begun()]).toEqual([0, 1])
  })
})

describe('a node of a cluster that is a primary no longer', () => {
  test.each([
    ['is closed when its last replies have come', 2],
    ['stays connected if it is one again by then', 1],
  ])('%s', async (_, last) => {
    const { nodes, cluster, clock, open, options, begun } = twoNodes()
    const topology = new Cluster(options, nodes)
    await topology.refresh()
    await topology.serverOf('key').connect()
    for (const primary of [2, last]) {
      cluster.primary = primary
      // One look rests after another.
      await clock.step(1_000)
      await topology.refresh()
    }
    const before = begun()
    expect(open.size).toBe(2)
    await clock.step(5_000)
    expect([...open]).toEqual([{ host: 'node', port: last }])
    expect(begun()).toBe(before)
    topology.close()
    await clock.step(5_000)
    expect([open.size, clock.waiters()]).toEqual([0, 0])
  })
})

test('a look at where the primary should be leaves no connection, and goes only to another primary', async () => {
  const { cluster, clock, open, options, begun } = twoNodes()
  let port = 1
  const topology = new OnePrimary(options, async () => ({ host: 'node', port }))
  await topology.refresh()
  topology.suspect()
  topology.suspect()
  await clock.step(0)
  expect([begun(), open.size]).toEqual([2, 1])
  port = 2
  await clock.step(60_000)
  topology.suspect()
  await clock.step(0)
  expect([begun(), [...open]]).toEqual([3, [{ host: 'node', port: 1 }]])
  cluster.primary = 2
  await clock.step(60_000)
  topology.suspect()
  await clock.step(1_000)
  expect([...open]).toEqual([{ host: 'node', port: 2 }])
  topology.close()
  topology.suspect()
  await clock.step(60_000)
  expect([begun(), open.size, clock.waiters()]).toEqual([5, 0, 0])
})
