import { examine } from '@sluice/conformance/vitest'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe } from 'vitest'
import { subjectsOn } from '../support/subjects.ts'

describe.skipIf(!hasRedis)('one server', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  const create = subjectsOn(() => ({ url: server.url }), { hasProcesses: true })
  examine('redis', create, { timeoutMs: 180_000 })
})
