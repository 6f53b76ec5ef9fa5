import type { Driver, Finish } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

const sets = ['keys', 'ready', 'delayed', 'backoff', 'held', 'dirty', 'parked', 'idle']

test.skipIf(!hasRedis)('nothing remains of keys that are done', async () => {
  const server = await startRedis()
  onTestFinished(() => server.dispose())
  const driver = redisDriver({ url: server.url })
  await driver.open({})
  onTestFinished(() => driver.close())
  const sizes = async () => {
    const sizesBy = (command: string, parts: readonly string[]) =>
      Promise.all(parts.map((part) => server.command(command, `sluice:{q}:${part}`)))
    return [await sizesBy('HLEN', ['rows', 'items', 'errors']), await sizesBy('ZCARD', sets)]
  }
  const run = async (finish: (lease: { key: string; token: number }) => Finish) => {
    const request = { limit: 9, holder: 'h', claimId: 'c', leaseMs: 30_000 }
    const { claims } = await driver.claim('q', request)
    expect(claims.map(({ key }) => key)).toEqual(['plain', 'with item'])
    await driver.finish('q', claims.map(finish), options)
  }
  const add = () =>
    driver.add(
      'q',
      [ask('plain'), { key: 'with item', item: '"text"', priority: 0, delayMs: 0 }],
      options,
    )
  await add()
  await driver.cancel('q', ['plain', 'with item'])
  const empty = await sizes()
  await add()
  await run((lease) => ({ as: 'done', ...lease, forget: false }))
  expect(await sizes()).toEqual(empty)
  await add()
  await run((lease) => ({ as: 'retry', ...lease, delayMs: 0, error: '{}' }))
  await run((lease) => ({ as: 'done', ...lease, forget: true }))
  expect(await sizes()).toEqual(empty)
})

const worker = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: {} }
const beat = { holder: 'w', worker, limit: 9, failuresExpireMs: 86_400_000 }

test.skipIf(!hasRedis)(
  'of many workers that start together, one reads the registrations of all',
  async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const clock = fakeClock()
    const driver = redisDriver({ url: server.url })
    await driver.open({ clock })
    onTestFinished(() => driver.close())
    const start = async (holder: string) => {
      await driver.tick('q', { ...beat, holder, worker: { ...worker, holder } })
    }
    const reads = async () => {
      const stats = String(await server.command('INFO', 'commandstats'))
      return Number(/cmdstat_hgetall:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    }
    const before = await reads()
    for (const holder of ['a', 'b', 'c']) await start(holder)
    expect(await reads()).toBe(before + 1)
    await clock.step(60_000)
    for (const holder of ['d', 'e']) await start(holder)
    expect(await reads()).toBe(before + 2)
    expect(await driver.workers?.('q', 60_000)).toHaveLength(5)
  },
)

const last: Readonly<Record<string, (driver: Driver) => unknown>> = {
  purge: ({ operate }) => operate?.purge('q'),
  heartbeat: (driver) => driver.tick('q', beat),
}

test.skipIf(!hasRedis).for(Object.entries(last))(
  'the time of the store is not before its last %s',
  async ([, act]) => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const clock = fakeClock()
    const driver = redisDriver({ url: server.url })
    await driver.open({ clock })
    await driver.tick('q', beat)
    await clock.step(10_000)
    await act(driver)
    await driver.close()
    const later = redisDriver({ url: server.url })
    await later.open({ clock: fakeClock() })
    onTestFinished(() => later.close())
    expect((await later.list('q', { limit: 1 })).now).toBe(clock.now())
  },
)

test.skipIf(!hasRedis)(
  'by the clock of the server, the time of the store does not go back',
  async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const opened = async () => {
      const driver = redisDriver({ url: server.url })
      await driver.open({})
      onTestFinished(() => driver.close())
      return driver
    }
    const present = async (driver: Driver) => (await driver.list('q', { limit: 1 })).now
    const driver = await opened()
    const scope = 'sluice:{registry}:scope'
    const add = (key: string) => driver.add('q', [ask(key)], options)
    const start = Date.now()
    await add('a')
    expect(Number(await server.command('HGET', scope, 'latest'))).toBeGreaterThanOrEqual(start)
    const latest = start + 60_000
    // As if the clock of the machine was set back by a minute.
    await server.command('HSET', scope, 'latest', String(latest))
    await add('b')
    const added = (await driver.list('q', { limit: 9, keys: ['b'] })).rows[0]!.dueAt
    expect(added).toBeGreaterThanOrEqual(latest)
    await server.command('HDEL', scope, 'latest')
    expect(await present(await opened())).toBeGreaterThanOrEqual(added)
    // A process that knows a later time is not answered with an earlier one by a store that lost it.
    await server.command('HDEL', scope, 'ahead')
    expect(await present(driver)).toBeGreaterThanOrEqual(added)
  },
)
