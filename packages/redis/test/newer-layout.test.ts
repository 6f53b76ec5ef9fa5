import { type Driver, never } from '@sluice/core/driver'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

const lease = { key: 'a', token: 1 }

const verbs: Readonly<Record<string, (driver: Driver) => unknown>> = {
  add: (driver) => driver.add('q', [ask('a')], options),
  claim: (driver) => driver.claim('q', { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }),
  renew: (driver) => driver.renew('q', [lease], 60_000),
  finish: (driver) => driver.finish('q', [{ as: 'done', ...lease, forget: true }], options),
  forget: (driver) => driver.forget('q', ['a']),
  tick: (driver) => driver.tick('q', { holder: 'h', limit: 1, failuresExpireMs: never }),
  counts: (driver) => driver.counts('q', { cap: 10 }),
  list: (driver) => driver.list('q', { limit: 10 }),
  purge: (driver) => driver.operate?.purge('q'),
}

describe.skipIf(!hasRedis)('a queue of a newer layout', () => {
  test.each(Object.keys(verbs))(
    'is refused by %s, also by a process that is running',
    async (verb) => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      const driver = redisDriver({ url: server.url })
      await driver.open({})
      onTestFinished(() => driver.close())
      await driver.add('q', [ask('a')], options)
      await driver.add('other', [ask('a')], options)
      await server.command('HSET', 'sluice:{q}:meta', 'version', '2')
      const rows = await server.command('HGETALL', 'sluice:{q}:rows')
      const error: unknown = await (async () => await verbs[verb]?.(driver))().catch((one) => one)
      expect(error).toMatchObject({ code: 'ERR_SCHEMA_NEWER', retryable: false })
      expect(String(error)).toContain(
        'queue q is stored with layout 2, newer than 1; upgrade @sluice/redis',
      )
      expect(await server.command('HGETALL', 'sluice:{q}:rows')).toEqual(rows)
      expect((await driver.counts('other', { cap: 10 })).ready).toBe(1)
      expect(await driver.queues?.()).toEqual(expect.arrayContaining(['other', 'q']))
    },
  )
})
