import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Ask, type Clock, systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, type RedisProcess, type SentinelRedis, startSentinel } from '@sluice/test-redis'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { openConnections } from '../src/connection/open-connections.ts'
import { JournalKeeper, type Replayed } from '../src/journal-keeper.ts'
import { Layout } from '../src/rows/layout.ts'
import { StoreTime } from '../src/rows/store-time.ts'
import { Store } from '../src/store.ts'
import { add } from '../src/verbs/add.ts'
import { counts } from '../src/verbs/counts.ts'
import { ask, askOptions as options } from './support/asks.ts'

const minute = 60_000

describe.skipIf(!hasRedis)('replicas that come and go', () => {
  let servers: SentinelRedis
  let primary: RedisProcess
  let replica: RedisProcess

  beforeEach(async () => {
    servers = await startSentinel()
    primary = await servers.primary()
    const other = servers.nodes.find((node) => node !== primary)
    assert.ok(other)
    replica = other
  })

  afterEach(() => servers.dispose())

  async function open(clock = fakeClock(), timers: Clock = clock) {
    const hosts = servers.sentinels.map(({ url }) => new URL(url).host).join(',')
    const url = `redis-sentinel://${hosts}/${servers.name}`
    const connections = await openConnections({
      url,
      timeoutMs: 20_000,
      environment: systemEnvironment,
    })
    const environment = { ...systemEnvironment, clock: timers }
    const store = new Store({
      connections,
      layout: new Layout({ prefix: 's:', oneSlot: false, isCluster: false }),
      time: new StoreTime(undefined, () => performance.now()),
      environment: systemEnvironment,
      replicas: 0,
      confirmMs: 5_000,
    })
    let onReplay: (replayed: Replayed) => void = () => {}
    const replayed = new Promise<Replayed>((resolve) => {
      onReplay = resolve
    })
    const keeper = new JournalKeeper(store, environment, (one) => onReplay(one))
    onTestFinished(async () => {
      await keeper.close(0)
      await connections.close()
    })
    const addKeys = async (name: string, count: number): Promise<void> => {
      const asks = Array.from({ length: count }, (_, nth): Ask => ask(`${name} ${nth}`))
      keeper.noteAdds('q', asks, await add(store, 'q', asks, options), options.dedupe)
    }
    return { store, keeper, clock, connections, replayed, addKeys }
  }

  /** The replica receives nothing more. */
  async function stopReplica(): Promise<void> {
    replica.pause()
    // What is on its way in the buffers of a connection would arrive after all.
    await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
  }

  async function failOver(): Promise<void> {
    await primary.kill()
    replica.resume()
    await servers.promoted(primary)
  }

  test('replicas are asked outside of the asynchronous context of the add', async () => {
    const caller = new AsyncLocalStorage<string>()
    const { connections, addKeys } = await open(undefined, systemEnvironment.clock)
    const asked = new Promise<string | undefined>((resolve) => {
      const progress = connections.progress.bind(connections)
      connections.progress = (slot) => {
        resolve(caller.getStore())
        return progress(slot)
      }
    })
    await caller.run('of a request', () => addKeys('early', 1))
    assert.equal(await asked, undefined)
  })

  test('replicas are not asked about an add that is answered after the close', async () => {
    const { keeper, clock, addKeys } = await open()
    await keeper.close(0)
    await addKeys('late', 1)
    assert.equal(clock.waiters(), 0)
  })

  test('a replica that is attached after opening is waited for, however long it takes', async () => {
    await stopReplica()
    const { store, keeper, clock, connections, replayed, addKeys } = await open()
    assert.equal(connections.replicas, 0)
    replica.resume()
    await expect.poll(() => primary.command('WAIT', 0, 0), { timeout: 30_000 }).toBe(1)
    await addKeys('early', 10)
    await keeper.look()
    assert.equal(connections.replicas, 1)
    await stopReplica()
    await addKeys('late', 300)
    for (let round = 0; round < 20; round += 1) {
      void clock.step(6_000)
      await keeper.look()
    }
    await failOver()
    assert.ok((await replayed).adds >= 300)
    const { ready } = await counts(store, 'q', 1_000)
    assert.equal(ready, 310)
  })

  test('what the new primary has received is not added again', async () => {
    const { store, keeper, replayed, addKeys } = await open()
    await addKeys('early', 10)
    await expect.poll(() => replica.command('HLEN', 's:{q}:rows')).toBe(11)
    await stopReplica()
    await addKeys('late', 20)
    await failOver()
    const { adds } = await replayed
    assert.equal(adds, 20)
    assert.equal((await counts(store, 'q', 1_000)).ready, 30)
    await keeper.look()
  })

  test('the end of a process does not wait for a replica that is missing', async () => {
    const { keeper, connections, addKeys } = await open()
    await addKeys('before', 10)
    await stopReplica()
    await expect.poll(() => primary.info('connected_slaves'), { timeout: 30_000 }).toBe('0')
    await addKeys('late', 10)
    assert.equal(connections.replicas, 1)
    // No time passes meanwhile, so that a wait would not end.
    await keeper.close(minute)
  })

  test('nothing expires while the primary does not answer', async () => {
    const { store, keeper, clock, replayed, addKeys } = await open()
    await stopReplica()
    await addKeys('late', 100)
    primary.pause()
    void clock.step(30 * minute)
    const looking = keeper.look()
    primary.resume()
    await looking
    await failOver()
    assert.equal((await replayed).adds, 100)
    assert.equal((await counts(store, 'q', 1_000)).ready, 100)
  })
})
