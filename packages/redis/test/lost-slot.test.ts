import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, slotOf, startCluster } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openConnections } from '../src/connection/open-connections.ts'
import { JournalKeeper } from '../src/journal-keeper.ts'
import { Layout } from '../src/rows/layout.ts'
import { StoreTime } from '../src/rows/store-time.ts'
import { Store } from '../src/store.ts'
import { add } from '../src/verbs/add.ts'
import { ask, askOptions as options } from './support/asks.ts'

describe.skipIf(!hasRedis)('a slot that no primary has', () => {
  test('fails the calls of its queues, and nothing else of the process', async () => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.dispose())
    const url = `redis-cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
    const environment = { ...systemEnvironment, clock: fakeClock() }
    const connections = await openConnections({
      url,
      timeoutMs: 20_000,
      environment: systemEnvironment,
    })
    const layout = new Layout({ prefix: 's:', oneSlot: false, isCluster: true })
    const time = new StoreTime(undefined, () => performance.now())
    const use = { connections, layout, time, environment: systemEnvironment }
    const store = new Store({ ...use, replicas: 0, confirmMs: 5_000 })
    const keeper = new JournalKeeper(store, environment, () => {})
    onTestFinished(async () => {
      await keeper.close(0)
      await connections.close()
    })
    keeper.noteAdds('q', [ask('a')], await add(store, 'q', [ask('a')], options), options.dedupe)
    const slot = slotOf('{q}')
    // The owner first: as long as it claims the slot, the others learn of it again.
    const owner = await cluster.primaryOf('{q}')
    const others = cluster.nodes.filter((node) => node !== owner)
    for (const { process } of [owner, ...others]) await process.command('CLUSTER', 'DELSLOTS', slot)
    await expect
      .poll(() => connections.send('{q}', ['GET', '{q}']).catch(String))
      .toMatch(/no node is known for slot/)
    await keeper.look()
    const pausing = store.run('pause', 'q', ['1'])
    await assert.rejects(pausing, (error) => SluiceError.is(error, 'ERR_STORE'))
  })
})
