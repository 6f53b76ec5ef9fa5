import type { Driver, WorkerInfo, WorkRecord } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { needs } from '@sluice/needs'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'

const day = 86_400_000
const worker = { processId: 1 } as unknown as WorkerInfo
const none = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }
const quiet: WorkRecord = { ...none, codes: [], failedRuns: [] }

describe.skipIf(!needs('redis-server', hasRedis))('what workers record', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  async function record(driver: Driver, what: WorkRecord): Promise<void> {
    const request = { holder: 'w', worker, limit: 100, failuresExpireMs: day }
    await driver.tick('q', { ...request, record: what })
  }

  test('is deleted when it is older than a day, also if no run fails any more', async () => {
    const driver = redisDriver({ url: server.url })
    const clock = fakeClock()
    await driver.open({ clock })
    onTestFinished(() => driver.close())
    const failedRun = { at: clock.now(), key: 'a', code: 'E', holder: 'w', failures: 0 }
    await record(driver, {
      ...quiet,
      failed: 1,
      codes: [['E', 1]],
      failedRuns: [{ ...failedRun, lastError: '{}' }],
    })
    const fields = () =>
      Promise.all([
        server.command('HLEN', 'sluice:{q}:history'),
        server.command('HLEN', 'sluice:{q}:failed'),
      ])
    // A step of each resolution and one failed run, each beside a placeholder.
    expect(await fields()).toEqual([4, 2])
    await clock.step(2 * day)
    await record(driver, quiet)
    expect(await fields()).toEqual([4, 1])
  })
})
