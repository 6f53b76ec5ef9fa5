import assert from 'node:assert/strict'
import { never } from '@sluice/core/driver'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

describe.skipIf(!hasRedis)('a queue of which a key was deleted', () => {
  test('is damaged, as the error says, until it is purged', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const tick = async () =>
      await driver.tick('q', { holder: 'h', limit: 1, failuresExpireMs: never })
    for (const part of ['delayed', 'backoff', 'held']) {
      await driver.add('q', [ask('a')], options)
      await server.command('DEL', `sluice:{q}:${part}`)
      await expect(tick()).rejects.toMatchObject({
        code: 'ERR_STORE_DAMAGED',
        message: expect.stringMatching(/^a part of the queue q is missing: .* purge the queue/),
      })
      await driver.operate?.purge('q')
      assert.equal((await tick()).nextAt, never)
    }
  })

  test('is not counted with fewer keys than none', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const counts = async () => await driver.counts('q', { cap: 10 })
    for (const part of ['ready', 'held', 'parked', 'idle']) {
      await driver.add('q', [ask('a'), ask('b')], options)
      await server.command('DEL', `sluice:{q}:${part}`)
      await expect(counts(), part).rejects.toMatchObject({ code: 'ERR_STORE_DAMAGED' })
      // Also once the part has keys again.
      await driver.operate?.park('q', ['b'])
      await expect(counts(), part).rejects.toMatchObject({ code: 'ERR_STORE_DAMAGED' })
      await driver.operate?.purge('q')
      expect(await counts()).toMatchObject({ ready: 0, processing: 0, parked: 0, idle: 0 })
    }
  })

  test('is not taken for an empty one without its description', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('q', [ask('a'), ask('b')], options)
    await server.command('DEL', 'sluice:{q}:meta')
    const damaged = {
      code: 'ERR_STORE_DAMAGED',
      message: expect.stringContaining('purge the queue'),
    }
    const claim = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 1_000 }
    const tick = { holder: 'h', limit: 1, failuresExpireMs: never }
    await expect(driver.counts('q', { cap: 10 })).rejects.toMatchObject(damaged)
    await expect(driver.claim('q', claim)).rejects.toMatchObject(damaged)
    await expect(driver.tick('q', tick)).rejects.toMatchObject(damaged)
    // What writes does not make a new one, which would not say that the queue is paused.
    await expect(driver.add('q', [ask('c')], options)).rejects.toMatchObject(damaged)
    await expect(driver.operate?.resume('q')).rejects.toMatchObject(damaged)
    await expect(driver.operate?.pause('q')).rejects.toMatchObject(damaged)
    assert.equal(await driver.operate?.resume('another'), 'unchanged')
    await expect(driver.counts('q', { cap: 10 })).rejects.toMatchObject(damaged)
    assert.equal(await driver.operate?.purge('q'), 2)
    expect(await driver.counts('q', { cap: 10 })).toMatchObject({ ready: 0 })
    await driver.add('q', [ask('c')], options)
    expect((await driver.claim('q', claim)).claims).toMatchObject([{ key: 'c' }])
  })

  test('names the key of which the row or the item was lost, the queue and the remedy', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const claim = { limit: 9, holder: 'h', claimId: 'c', leaseMs: 1_000 }
    await driver.add('q', [{ ...ask('a'), item: '{}' }, ask('b')], options)
    await server.command('HDEL', 'sluice:{q}:items', 'a')
    await expect(driver.claim('q', claim)).rejects.toMatchObject({
      code: 'ERR_STORE_DAMAGED',
      message: expect.stringMatching(/^the item of key a of queue q is lost: add .* or remove it/),
    })
    await driver.add('q', [{ ...ask('a'), item: '{}' }], options)
    expect((await driver.claim('q', claim)).claims).toMatchObject([{ key: 'a' }, { key: 'b' }])
    await driver.add('r', [ask('c')], options)
    await server.command('HSET', 'sluice:{r}:rows', 'c', 'x')
    const message = expect.stringMatching(/^the stored row of key c of queue r cannot be read/)
    const tick = { holder: 'h', limit: 1, failuresExpireMs: never }
    await expect(driver.claim('r', claim)).rejects.toMatchObject({ message })
    await expect(driver.tick('r', tick)).rejects.toMatchObject({ message })
    await expect(driver.counts('r', { cap: 1 })).rejects.toMatchObject({ message })
  })

  test('lists items that were lost as such: their keys are not taken for them', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('q', [{ ...ask('a'), item: '{}' }, ask('b')], options)
    await server.command('DEL', 'sluice:{q}:items')
    const { rows } = await driver.list('q', { limit: 9 })
    expect(rows.map(({ key, item }) => [key, item])).toEqual([
      ['a', ''],
      ['b', undefined],
    ])
  })

  test('lists the keys that still have a row, however many have none', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const asks = Array.from({ length: 4_000 }, (_, nth) => ask(`${10_000 + nth}`))
    for (let from = 0; from < 4_000; from += 500) {
      await driver.add('q', asks.slice(from, from + 500), options)
    }
    const withoutRows = asks.slice(0, 3_990).map(({ key }) => key)
    await server.command('HDEL', 'sluice:{q}:rows', ...withoutRows)
    const listed: string[] = []
    let pages = 0
    for (let cursor: string | undefined; pages === 0 || cursor !== undefined; pages += 1) {
      assert.ok(pages < 100)
      const reply = await driver.list('q', { limit: 4, ...(cursor !== undefined && { cursor }) })
      listed.push(...reply.rows.map(({ key }) => key))
      cursor = reply.cursor
    }
    assert.deepEqual(
      listed,
      asks.slice(3_990).map(({ key }) => key),
    )
  })

  test('lists no key as held after a purge that is not', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('q', [ask('a')], options)
    // As after a start on a log of which the end was cut off: the server repeats half of a script.
    await server.command('ZADD', 'sluice:{q}:held', 1, 'a', 1, 'b')
    await driver.operate?.purge('q')
    const { ready, processing } = await driver.counts('q', { cap: 10 })
    assert.deepEqual([ready, processing], [0, 0])
    const { leaseEnds } = await driver.tick('q', { holder: 'h', limit: 1, failuresExpireMs: never })
    assert.deepEqual(leaseEnds, [])
  })

  test('is not an empty one, and costs the others nothing, where another program has written over the key', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    for (const queue of ['p', 'q']) await driver.add(queue, [ask('a')], options)
    const reads = {
      meta: () => driver.counts('q', { cap: 1 }),
      rows: () => driver.list('q', { limit: 1 }),
      keys: () => driver.list('q', { limit: 1 }),
      ready: () => driver.claim('q', { limit: 1, holder: 'h', claimId: 'c', leaseMs: 1_000 }),
      held: () => driver.list('q', { limit: 1, state: 'processing' }),
      dirty: () => driver.list('q', { limit: 1, state: 'dirty' }),
      workers: () => driver.workers?.('q', 1_000),
    }
    for (const [part, read] of Object.entries(reads)) {
      const key = `sluice:{q}:${part}`
      await server.command('RENAME', key, 'kept')
      await server.command('SET', key, 'another')
      await expect((async () => await read())(), part).rejects.toMatchObject({
        code: 'ERR_STORE_DAMAGED',
        message: `a part of the queue q cannot be read: another program has written over the Redis key ${key}: delete it [ERR_STORE_DAMAGED]`,
      })
      expect((await driver.queues?.())?.toSorted(), part).toEqual(['p', 'q'])
      await server.command('RENAME', 'kept', key)
    }
    expect(await driver.counts('q', { cap: 10 })).toMatchObject({ ready: 1 })
  })
})
