import assert from 'node:assert/strict'
import type { Driver } from '@sluice/core/driver'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

const claim = (driver: Driver, limit: number) =>
  driver.claim('q', { limit, holder: 'h', claimId: 'c', leaseMs: 60_000, dueBy: Infinity })

describe.skipIf(!hasRedis)('held keys', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  test('are on the first page, however many other keys come before them', async () => {
    const driver = redisDriver({ url: server.url })
    await driver.open({})
    onTestFinished(() => driver.close())
    for (let round = 0; round < 5; round += 1) {
      const asks = Array.from({ length: 500 }, (_, nth) => ask(`${round} ${nth}`))
      await driver.add('q', asks, options)
    }
    // In the order of bytes, which is neither that of UTF-16 nor that of a locale.
    const held = ['Z', 'a', '\uffee', '\u{1f600}']
    await driver.add(
      'q',
      held.map((key) => ask(key, 1)),
      options,
    )
    await claim(driver, 4)
    await driver.add('q', [ask('a')], options)
    const keysOf = async (request: object): Promise<[string[], string | undefined]> => {
      const { rows, cursor } = await driver.list('q', { limit: 2, ...request })
      return [rows.map(({ key }) => key), cursor]
    }
    assert.deepEqual(await keysOf({ state: 'processing' }), [['Z', '\uffee'], '\uffee'])
    const rest = [['\u{1f600}'], undefined]
    assert.deepEqual(await keysOf({ state: 'processing', cursor: '\uffee' }), rest)
    assert.deepEqual(await keysOf({ state: 'dirty' }), [['a'], undefined])
    assert.deepEqual(await keysOf({ state: 'dirty', prefix: 'Z' }), [[], undefined])
  })

  test('a page reads the dirty ones alone, and of the others no more than of any state', async () => {
    const driver = redisDriver({ url: server.url, prefix: 'many' })
    await driver.open({})
    onTestFinished(() => driver.close())
    const keys = Array.from({ length: 2_400 }, (_, nth) => `key ${nth + 10_000}`)
    for (let from = 0; from < keys.length; from += 800) {
      const some = keys.slice(from, from + 800).map((key) => ask(key))
      await driver.add('q', some, options)
      await claim(driver, 800)
    }
    const last = keys.at(-1)!
    await driver.add('q', [ask(last)], options)
    const dirty = await driver.list('q', { state: 'dirty', limit: 2 })
    assert.deepEqual([dirty.rows.map(({ key }) => key), dirty.cursor], [[last], undefined])
    for (let from = 0; from < keys.length; from += 800)
      await driver.add(
        'q',
        keys.slice(from, from + 800).map((key) => ask(key)),
        options,
      )
    const none = await driver.list('q', { state: 'processing', limit: 2 })
    assert.deepEqual([none.rows, none.cursor], [[], keys[1_999]])
    const rest = await driver.list('q', { state: 'processing', limit: 2, cursor: none.cursor })
    assert.deepEqual([rest.rows, rest.cursor], [[], undefined])
  })

  test('of which there are many are purged by scripts that let others run in between', async () => {
    const driver = redisDriver({ url: server.url, prefix: 'purge' })
    await driver.open({})
    onTestFinished(() => driver.close())
    const add = async (keys: readonly string[]): Promise<void> => {
      const asks = keys.map((key) => ({ ...ask(key), item: `of ${key}` }))
      await driver.add('q', asks, options)
    }
    const named = (name: string) => Array.from({ length: 800 }, (_, nth) => `${name} ${nth}`)
    for (const name of ['one', 'two', 'three']) {
      await add(named(name))
      await claim(driver, 800)
    }
    await add([...named('one').slice(0, 5), ...named('ready')])
    await server.command('CONFIG', 'RESETSTAT')
    assert.equal(await driver.operate?.purge('q'), 805)
    const scripts = /calls=(\d+)/.exec(await server.info('cmdstat_evalsha'))
    assert.ok(Number(scripts?.[1]) > 4, `${scripts?.[1]} scripts`)
    const { processing, dirty, ready } = await driver.counts('q', { cap: 10_000 })
    assert.deepEqual([processing, dirty, ready], [2_400, 0, 0])
    const { rows } = await driver.list('q', { keys: ['one 1', 'ready 1'], limit: 2 })
    assert.deepEqual(
      rows.map(({ key, item }) => [key, item]),
      [['one 1', 'of one 1']],
    )
    await add(['damaged'])
    await server.command('HSET', 'purge{q}:rows', 'damaged', '?')
    assert.equal(await driver.operate?.purge('q'), 1)
    await claim(driver, 1)
  })
})
