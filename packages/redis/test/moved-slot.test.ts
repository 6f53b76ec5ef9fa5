import assert from 'node:assert/strict'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, startCluster } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openConnections } from '../src/connection/open-connections.ts'
import { JournalKeeper, type Replayed } from '../src/journal-keeper.ts'
import { Layout } from '../src/rows/layout.ts'
import { StoreTime } from '../src/rows/store-time.ts'
import { Store } from '../src/store.ts'
import { add } from '../src/verbs/add.ts'
import { ask, askOptions as options } from './support/asks.ts'

describe.skipIf(!hasRedis)('a slot that has moved to another primary', () => {
  test('repeats no add, also of those that it answered before the table of slots was read', async () => {
    const cluster = await startCluster({ replicas: 0 })
    onTestFinished(() => cluster.dispose())
    const url = `redis-cluster://127.0.0.1:${cluster.nodes[0]?.port}`
    const environment = systemEnvironment
    const connections = await openConnections({ url, timeoutMs: 20_000, environment })
    const layout = new Layout({ prefix: 's:', oneSlot: false, isCluster: true })
    const time = new StoreTime(undefined, () => performance.now())
    const use = { connections, layout, time, environment }
    const store = new Store({ ...use, replicas: 0, confirmMs: 5_000 })
    const replays: Replayed[] = []
    const quiet = { ...environment, clock: fakeClock() }
    const keeper = new JournalKeeper(store, quiet, (replayed) => replays.push(replayed))
    onTestFinished(async () => {
      await keeper.close(0)
      await connections.close()
    })
    const before = [ask('a')]
    keeper.noteAdds('q', before, await add(store, 'q', before, options), options.dedupe)
    const old = connections.primaryOf('{q}')
    const owner = await cluster.primaryOf('{q}')
    const to = cluster.nodes.find((node) => node !== owner)
    assert.ok(to)
    // The table of slots is read after the reply.
    const primaryOf = connections.primaryOf.bind(connections)
    connections.primaryOf = () => old
    await cluster.moveSlot('{q}', to)
    const after = [ask('b')]
    keeper.noteAdds('q', after, await add(store, 'q', after, options), options.dedupe)
    await keeper.look()
    assert.deepEqual(replays, [])
    await expect.poll(() => ['', old].includes(primaryOf('{q}'))).toBe(false)
    // A look that the change of the table has begun still sees the old one.
    await keeper.look()
    connections.primaryOf = primaryOf
    await keeper.look()
    assert.deepEqual(replays, [{ queue: 'q', adds: 0, finishes: 0 }])
  })
})
