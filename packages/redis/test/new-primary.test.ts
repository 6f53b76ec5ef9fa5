import type { Driver } from '@sluice/core/driver'
import { never } from '@sluice/core/driver'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, onDisk, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Replayed, redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }

/** Verbs that may be the first on a new primary. */
const firsts: Readonly<Record<string, (driver: Driver, queue: string) => unknown>> = {
  add: (driver, queue) => driver.add(queue, [ask('b')], options),
  claim: (driver, queue) => driver.claim(queue, request),
  cancel: (driver, queue) => driver.cancel(queue, ['a']),
  purge: (driver, queue) => driver.operate?.purge(queue),
}

describe.skipIf(!hasRedis)('the first script on a new primary', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  for (const [name, first] of Object.entries(firsts)) {
    test(`notes how far the one before it has come: ${name}`, async () => {
      const driver = redisDriver({ url: server.url })
      await driver.open({})
      onTestFinished(() => driver.close())
      const queue = `first ${name}`
      await driver.add(queue, [ask('a')], options)
      const meta = `sluice:{${queue}}:meta`
      const scope = 'sluice:{registry}:scope'
      const before = Number(await server.command('HGET', meta, 'seq'))
      const term = Number((await server.command('HGET', scope, 'term')) ?? 0)
      const start = Date.now()
      // The clock of the one before it was ahead.
      const token = (start + 60_000) * 1_000
      await server.command('HSET', scope, 'primary', 'another', 'token', String(token))
      await first(driver, queue)
      expect(Number(await server.command('HGET', meta, 'followed'))).toBe(before)
      expect(Number(await server.command('HGET', scope, 'term'))).toBe(term + 1)
      const hourOfTokens = 3_600_000_000
      expect(Number(await server.command('HGET', scope, 'token'))).toBeGreaterThanOrEqual(
        token + hourOfTokens,
      )
      expect(Number(await server.command('HGET', scope, 'grace'))).toBeGreaterThanOrEqual(
        start + 30_000,
      )
    })
  }

  test('ends no lease for a while, since it may have missed renewals', async () => {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('held', [ask('a')], options)
    await driver.claim('held', { ...request, leaseMs: 0 })
    const scope = 'sluice:{registry}:scope'
    const ended = async () => {
      const { leaseEnds } = await driver.claim('held', request)
      return leaseEnds.map(({ key }) => key)
    }
    await server.command('HSET', scope, 'primary', 'another')
    expect(await ended()).toEqual([])
    await server.command('HDEL', scope, 'grace')
    expect(await ended()).toEqual(['a'])
  })

  test('repeats nothing that has arrived before an earlier primary ended', async () => {
    const server = await startRedis({ settings: onDisk })
    onTestFinished(() => server.dispose())
    let onReplay: (replayed: Replayed) => void = () => {}
    const driver = redisDriver({ url: server.url, onReplay: (one) => onReplay(one) })
    await driver.open({})
    onTestFinished(() => driver.close())
    await driver.add('twice', [ask('a')], options)
    // Another process works on it, so that this one does not know that it is done.
    const other = redisDriver({ url: server.url })
    await other.open({})
    onTestFinished(() => other.close())
    const { claims } = await other.claim('twice', request)
    const finishes = claims.map(
      ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
    )
    await other.finish('twice', finishes, options)
    for (const key of ['b', 'c']) {
      const replay = new Promise<Replayed>((resolve) => {
        onReplay = resolve
      })
      await server.kill()
      await server.start()
      expect((await replay).adds).toBe(0)
      await driver.add('twice', [ask(key)], options)
    }
    const { rows } = await driver.list('twice', { limit: 10 })
    expect(rows.map(({ key }) => key)).toEqual(['b', 'c'])
  })

  test('keeps the item of a key that was added later than the add that is repeated', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const proxy = await StoreProxy.start(server.port)
    onTestFinished(() => proxy.stop())
    const replayed = Promise.withResolvers<Replayed>()
    const url = `redis://127.0.0.1:${proxy.port}`
    const driver = redisDriver({ url, onReplay: replayed.resolve })
    const other = redisDriver({ url: server.url })
    for (const each of [driver, other]) {
      await each.open({})
      onTestFinished(() => each.close())
    }
    const ask = (key: string, item: string) => ({ key, item, priority: 0, delayMs: 0 })
    await driver.add('kept', [ask('a', '"old"')], options)
    await proxy.become('cut')
    // It has nothing on its disk.
    await server.kill()
    await server.start()
    const adds = ['b', 'c', 'a'].map((key) => ask(key, '"new"'))
    const add = async () => await other.add('kept', adds, options)
    await expect.poll(() => add().catch(() => 'away')).not.toBe('away')
    const { claims } = await other.claim('kept', { ...request, limit: 3 })
    expect(claims).toHaveLength(3)
    await proxy.become('pass')
    expect((await replayed.promise).adds).toBe(1)
    const { rows } = await other.list('kept', { limit: 10 })
    const items = rows.map(({ key, item, dueAt }) => [key, item, dueAt === never])
    expect(items.sort()).toEqual([
      ['a', '"new"', false],
      ['b', '"new"', true],
      ['c', '"new"', true],
    ])
  })

  test('begins a range above the numbers of keys that were moved here', async () => {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const range = 2 ** 32
    const times = { dueAt: 5, laterAt: never, readyAt: 5, askedAt: 5, failedAt: never }
    await driver.transfer?.importRows('moved', [
      {
        ...{ key: 'a', item: undefined, lastError: undefined, why: 'add', laterWhy: 'add' },
        ...times,
        // Postgres draws more than a thousand numbers for each batch.
        trace: undefined,
        ...{ seq: 900 * range + 7, priority: 0, failures: 0, crashes: 0, parked: false },
      },
    ])
    const numbers = async () => {
      const fields = ['HMGET', 'sluice:{moved}:meta', 'seq', 'followed'] as const
      const [seq, followed] = (await server.command(...fields)) as string[]
      return { seq: Number(seq), followed: Number(followed) }
    }
    const before = (await numbers()).seq
    await server.command('HSET', 'sluice:{registry}:scope', 'primary', 'another')
    await driver.add('moved', [ask('b')], options)
    const { seq, followed } = await numbers()
    expect([seq >= 901 * range, followed]).toEqual([true, before])
  })
})
