import assert from 'node:assert/strict'
import { hasRedis, type RedisCluster, slotOf, startCluster } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

describe.skipIf(!hasRedis)('a cluster', () => {
  let cluster: RedisCluster

  beforeAll(async () => {
    cluster = await startCluster()
  })

  afterAll(() => cluster.dispose())

  test('its slots are those of Redis', async () => {
    const [node] = cluster.nodes
    for (const key of ['a', 'sluice:{orders}:rows', '{}x', 'x{}', '{{a}}', 'ä{ö}', '}{a}']) {
      assert.equal(slotOf(key), await node?.process.command('CLUSTER', 'KEYSLOT', key), key)
    }
  })

  test('three primaries serve, each with a replica that has what was written', async () => {
    const primaries = new Set<string>()
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const primary = await cluster.primaryOf(key)
      primaries.add(primary.id)
      await primary.process.command('SET', key, key)
      assert.equal(await primary.process.command('WAIT', 1, 0), 1)
      const replica = await cluster.replicaOf(primary)
      await replica.process.command('READONLY')
      assert.equal(await replica.process.command('GET', key), key)
    }
    assert.equal(primaries.size, 3)
  })

  test('a slot moves with its keys; in between, both primaries turn scripts away', async () => {
    const keys = ['{moved}:1', '{moved}:2'] as const
    const from = await cluster.primaryOf(keys[0])
    const to = (await cluster.primaries()).find((node) => node !== from)
    assert.ok(to !== undefined)
    for (const key of keys) await from.process.command('SET', key, key)
    await cluster.moveSlot(keys[0], to, async () => {
      const script = from.process.command('EVAL', 'return 1', 2, ...keys)
      await expect(script).rejects.toThrow('TRYAGAIN')
    })
    for (const key of keys) assert.equal(await to.process.command('GET', key), key)
  })

  test('a replica takes over from a primary that is killed, which comes back as a replica', async () => {
    const old = await cluster.primaryOf('k')
    await old.process.kill()
    const now = await cluster.promoted('k', old)
    await old.process.start()
    await cluster.healthy()
    assert.equal(await cluster.replicaOf(now), old)
  })

  test('a replica takes over on command, and the primary goes on as its replica', async () => {
    const old = await cluster.primaryOf('l')
    const replica = await cluster.replicaOf(old)
    await cluster.failOver(replica)
    assert.equal(await cluster.promoted('l', old), replica)
    await cluster.healthy()
  })
})

describe.skipIf(!hasRedis)('a cluster that is split', () => {
  test('has two primaries for a while, and one when it is joined', async () => {
    const cluster = await startCluster({ isSplittable: true })
    onTestFinished(() => cluster.dispose())
    const old = await cluster.primaryOf('a')
    const replica = await cluster.replicaOf(old)
    await cluster.split([old])
    await old.process.command('SET', 'a', 'minority')
    await cluster.alert()
    await expect.poll(() => replica.process.info('role')).toBe('master')
    // A machine that holds all nodes up for a second makes each take the others for down until they answer.
    const majority = () => replica.process.command('SET', 'a', 'majority').catch(String)
    await expect.poll(majority).toBe('OK')
    // It notices by its own clock, in its own time, that it is cut off.
    const late = () => old.process.command('SET', 'a', 'late').catch(String)
    await expect.poll(late).toContain('CLUSTERDOWN')
    await cluster.join()
    await cluster.healthy()
    assert.equal(await old.process.info('role'), 'slave')
    assert.equal(await cluster.primaryOf('a'), replica)
    assert.equal(await replica.process.command('GET', 'a'), 'majority')
  })
})
