import assert from 'node:assert/strict'
import { type Driver, SluiceError } from '@sluice/core'
import { needs } from '@sluice/needs'
import { fakeTimeLibrary, SteppedClock } from '@sluice/needs/stepped-clock'
import { redisDriver } from '@sluice/redis'
import {
  hasRedis,
  type RedisProcess,
  startCluster,
  startRedis,
  startReplicated,
} from '@sluice/test-redis'
import { createQueue } from 'sluice'
import { describe, onTestFinished, test } from 'vitest'
import { SteadyLoad } from '../../support/failovers/steady-load.ts'

const askOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

const ask = (key: string, item?: string, delayMs = 0) => ({ key, item, priority: 0, delayMs })

async function server(
  settings: readonly string[] = [],
  clock?: SteppedClock,
): Promise<RedisProcess> {
  const started = await startRedis({ settings, ...(clock && { clock }) })
  onTestFinished(() => started.dispose())
  return started
}

async function opened(url: string): Promise<Driver> {
  const driver = redisDriver({ url })
  await driver.open({})
  onTestFinished(async () => {
    await driver.close()
  })
  return driver
}

async function claimed(
  driver: Driver,
  limit: number,
): Promise<readonly { key: string; token: number }[]> {
  const request = { limit, holder: 'h', claimId: `claim ${Math.random()}`, leaseMs: 30_000 }
  const { claims } = await driver.claim('orders', request)
  return claims.map(({ key, token }) => ({ key, token }))
}

describe.skipIf(!hasRedis)('faults of Redis', () => {
  test('scripts that the server forgets are sent again, and no key runs twice', async () => {
    const { url, ...redis } = await server().then((one) => ({ url: one.url, one }))
    const load = new SteadyLoad(redisDriver({ url }))
    for (let round = 0; round < 5; round += 1) {
      await load.progress(30)
      await redis.one.command('SCRIPT', 'FLUSH')
    }
    await load.progress(30)
    const report = await load.end()
    assert.deepEqual([report.lost, report.again, report.crashes], [0, 0, 0])
    assert.deepEqual([...report.codes], [])
  })

  test('connections that are killed lose no acknowledged add, and no crash is counted', async () => {
    const redis = await server()
    const load = new SteadyLoad(redisDriver({ url: redis.url }))
    for (let round = 0; round < 5; round += 1) {
      await load.progress(30)
      await redis.command('CLIENT', 'KILL', 'TYPE', 'normal')
    }
    await load.progress(30)
    const report = await load.end()
    assert.deepEqual([report.lost, report.crashes], [0, 0])
  })

  test('a server that sleeps holds everything up, and nothing is lost or run twice', async () => {
    const redis = await server()
    const load = new SteadyLoad(redisDriver({ url: redis.url }))
    await load.progress(30)
    await redis.command('DEBUG', 'SLEEP', '0.5')
    await load.progress(30)
    const report = await load.end()
    assert.deepEqual([report.lost, report.again, report.crashes], [0, 0, 0])
  })

  test('a queue goes on while its slot is moved to another primary, and after that', async () => {
    const cluster = await startCluster({ replicas: 0 })
    onTestFinished(() => cluster.dispose())
    const [node] = cluster.nodes
    const load = new SteadyLoad(redisDriver({ url: `redis-cluster://127.0.0.1:${node?.port}` }))
    await load.progress(100)
    const key = 'sluice:{orders}:rows'
    for (let round = 0; round < 2; round += 1) {
      const from = await cluster.primaryOf(key)
      const to = cluster.nodes.find((one) => one !== from)
      assert.ok(to !== undefined)
      await cluster.moveSlot(key, to)
      assert.equal(await cluster.primaryOf(key), to)
      await load.progress(100)
    }
    const report = await load.end()
    // What was pending is promised again to the new primary, so a held key may run once more.
    assert.deepEqual([report.lost, report.crashes], [0, 0])
    for (const code of report.codes) assert.equal(code, 'ERR_STORE_BUSY')
  })

  test('when the memory is full, an add is refused whole, and what is there can be worked off', async () => {
    const redis = await server()
    const driver = await opened(redis.url)
    await driver.add('orders', [ask('a', '"1"'), ask('b'), ask('c'), ask('d')], askOptions)
    const [held] = await claimed(driver, 1)
    assert.ok(held !== undefined)
    await redis.command('CONFIG', 'SET', 'maxmemory', 1)
    const before = await driver.counts('orders', { cap: 100 })
    await assert.rejects(
      async () => await driver.add('orders', [ask('e'), ask('a', '"2"')], askOptions),
      (error) => SluiceError.is(error, 'ERR_STORE_FULL') && error.retryable,
    )
    assert.deepEqual(await driver.counts('orders', { cap: 100 }), before)
    const { rows } = await driver.list('orders', { keys: ['a'], limit: 1 })
    assert.equal(rows[0]?.item, '"1"')
    await driver.renew('orders', [held], 60_000)
    const [, ...others] = [held, ...(await claimed(driver, 10))]
    const finishes = [held, ...others].map(
      ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
    )
    const replies = await driver.finish('orders', finishes, askOptions)
    assert.ok(replies.every(({ outcome }) => outcome === 'idle'))
    assert.equal(await redis.command('CONFIG', 'SET', 'maxmemory', 0), 'OK')
    assert.equal((await driver.list('orders', { limit: 10 })).rows.length, 0)
  })

  test('a queue closes while a replica stands still', async () => {
    const servers = await startReplicated()
    onTestFinished(() => servers.dispose())
    const queue = createQueue({ name: 'orders', driver: redisDriver({ url: servers.url }) })
    await queue.add('first')
    servers.replicas[0]?.pause()
    await queue.add('second')
    await queue.close()
  })

  test('a user without the rights of an administrator can do everything', async () => {
    const redis = await server()
    const rules = ['~sluice:*', '&sluice:*', '+@all', '-@admin', '-@dangerous']
    await redis.command('ACL', 'SETUSER', 'app', 'on', '>pw', ...rules)
    const load = new SteadyLoad(redisDriver({ url: `redis://app:pw@127.0.0.1:${redis.port}` }))
    await load.progress(100)
    const report = await load.end()
    assert.deepEqual([report.lost, report.again, report.crashes], [0, 0, 0])
    assert.deepEqual([...report.codes], [])
  })

  test('a user that lacks a command is refused when the queue is opened', async () => {
    const redis = await server()
    const rules = ['~*', '&*', '+@all', '-@dangerous', '-unlink']
    await redis.command('ACL', 'SETUSER', 'app', 'on', '>pw', ...rules)
    const driver = redisDriver({ url: `redis://app:pw@127.0.0.1:${redis.port}` })
    await assert.rejects(async () => await driver.open({}), /may not use UNLINK/)
  })

  test('a server that evicts keys is refused, unless that is accepted', async () => {
    const redis = await server(['maxmemory 100mb', 'maxmemory-policy allkeys-lfu'])
    const { url } = redis
    await assert.rejects(async () => await redisDriver({ url }).open({}), /allkeys-lfu/)
    const driver = redisDriver({ url, acceptsEviction: true })
    await driver.open({})
    await driver.close()
  })

  test.skipIf(!needs('libfaketime', fakeTimeLibrary !== undefined))(
    'a clock of the server that is set back and forward loses no key and hands none out twice',
    async () => {
      const clock = new SteppedClock()
      onTestFinished(() => clock.remove())
      const redis = await server([], clock)
      const load = new SteadyLoad(redisDriver({ url: redis.url }))
      for (const offsetMs of [-3_600_000, 0, 3_600_000, -1_000, 86_400_000, 0]) {
        await load.progress(50)
        clock.set(offsetMs)
      }
      await load.progress(50)
      const report = await load.end()
      assert.deepEqual([report.lost, report.again, report.crashes], [0, 0, 0])
    },
  )

  test.skipIf(!needs('libfaketime', fakeTimeLibrary !== undefined))(
    'tokens rise, and delays do not start again, when the clock of the server is set back',
    async () => {
      const clock = new SteppedClock()
      onTestFinished(() => clock.remove())
      const redis = await server([], clock)
      const driver = await opened(redis.url)
      await driver.add('orders', [ask('a'), ask('b'), ask('later', undefined, 200)], askOptions)
      const [first] = await claimed(driver, 1)
      clock.set(-86_400_000)
      const [second] = await claimed(driver, 1)
      assert.ok((second?.token ?? 0) > (first?.token ?? Infinity))
      const found = async (): Promise<boolean> => (await claimed(driver, 1)).length > 0
      const until = performance.now() + 10_000
      // real time: the delay is one of the server's clock, which cannot be stepped by less than its steps.
      for (;;) {
        const isLast = performance.now() > until
        if (await found()) break
        assert.ok(!isLast, 'the delay has not ended')
      }
    },
  )
})
