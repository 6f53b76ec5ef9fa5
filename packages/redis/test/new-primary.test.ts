import type { Driver } from '@sluice/core/driver'
import { never } from '@sluice/core/driver'
import { needs } from '@sluice/needs'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'

const options = { dedupe: 'client-go', failuresExpireMs: never } as const
const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }

/** Verbs that may be the first on a new primary. */
const firsts: Readonly<Record<string, (driver: Driver, queue: string) => unknown>> = {
  add: (driver, queue) =>
    driver.add(queue, [{ key: 'b', item: undefined, priority: 0, delayMs: 0 }], options),
  claim: (driver, queue) => driver.claim(queue, request),
  cancel: (driver, queue) => driver.cancel(queue, ['a']),
  purge: (driver, queue) => driver.operate?.purge(queue),
}

describe.skipIf(!needs('redis-server', hasRedis))('the first script on a new primary', () => {
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
      await driver.add(queue, [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }], options)
      const meta = `sluice:{${queue}}:meta`
      const scope = 'sluice:{registry}:scope'
      const before = Number(await server.command('HGET', meta, 'seq'))
      const term = Number((await server.command('HGET', scope, 'term')) ?? 0)
      await server.command('HSET', scope, 'primary', 'another')
      await first(driver, queue)
      expect(Number(await server.command('HGET', meta, 'followed'))).toBe(before)
      expect(Number(await server.command('HGET', scope, 'term'))).toBe(term + 1)
    })
  }
})
