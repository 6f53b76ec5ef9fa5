import { queueCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { redisDriver } from '@sluice/redis'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe } from 'vitest'
import { factories } from '../../support/queue-factories.ts'

describe.skipIf(!hasRedis)('redis-server', () => {
  let server: RedisProcess
  let made = 0

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  function create(): Subject {
    made += 1
    const options = { url: server.url, prefix: `s${made}:` }
    const make = () => redisDriver(options)
    return { driver: make(), clock: fakeClock(), restart: make, peer: make }
  }

  examine('through the queue, on Redis', create, {
    cases: queueCases(factories),
    timeoutMs: 180_000,
  })
})
