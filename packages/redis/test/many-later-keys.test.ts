import assert from 'node:assert/strict'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask, askOptions as options } from './support/asks.ts'

describe.skipIf(!hasRedis)('a claim with dueBy', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  test('finds a key behind more later keys than one script looks at', async () => {
    const driver = redisDriver({ url: server.url })
    // An instant of which some bytes are no UTF-8.
    const clock = fakeClock(1_790_000_000_000)
    await driver.open({ clock })
    onTestFinished(() => driver.close())
    const dueBy = clock.now()
    await driver.add('q', [ask('early')], options)
    await clock.step(10)
    for (let round = 0; round < 5; round += 1) {
      const asks = Array.from({ length: 500 }, (_, nth) => ask(`late ${round} ${nth}`, 1))
      await driver.add('q', asks, options)
    }
    const request = { limit: 1, holder: 'h', claimId: 'first', leaseMs: 60_000, dueBy }
    const { claims } = await driver.claim('q', request)
    assert.deepEqual(
      claims.map(({ key }) => key),
      ['early'],
    )
    const { claims: more } = await driver.claim('q', { ...request, claimId: 'second' })
    assert.deepEqual(more, [])
  })
})
