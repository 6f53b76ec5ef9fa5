import type { Driver } from '@sluice/core/driver'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'

const reads: Readonly<Record<string, (driver: Driver) => unknown>> = {
  counts: (driver) => driver.counts('q', { cap: 1 }),
  list: (driver) => driver.list('q', { limit: 1 }),
  queues: (driver) => driver.queues?.(),
  buckets: (driver) => driver.buckets?.(),
  workers: (driver) => driver.workers?.('q', 1_000),
  history: (driver) => driver.history?.('q', 10_000),
  failedRuns: (driver) => driver.failedRuns?.('q'),
  adopt: (driver) => driver.adopt?.('q', '1-1'),
}

describe.skipIf(!hasRedis)('a connection that loses answers', () => {
  test('leaves no outcome of a read unknown', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const proxy = await StoreProxy.start(server.port)
    onTestFinished(() => proxy.stop())
    const url = `redis://127.0.0.1:${proxy.port}`
    const driver = redisDriver({ url })
    await driver.open({})
    onTestFinished(() => driver.close())
    const reading = async (read: (driver: Driver) => unknown): Promise<unknown> =>
      await read(driver)
    for (const [name, read] of Object.entries(reads)) {
      await reading(read)
      const cut = reading(read)
      await proxy.become('cut')
      await expect(cut, name).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
      await proxy.become('pass')
      await expect.poll(() => reading(read).catch(() => 'again')).not.toBe('again')
    }
  })
})
