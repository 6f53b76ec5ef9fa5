import assert from 'node:assert/strict'
import type { Ask } from '@sluice/core/driver'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, onTestFinished, test } from 'vitest'
import { type Replayed, redisDriver } from '../src/index.ts'
import { askOptions as options } from './support/asks.ts'

// So long that 525 of them fill a journal.
const item = 'x'.repeat(64_000)
const ask = (key: string): Ask => ({ key, item, priority: 0, delayMs: 0 })

describe.skipIf(!hasRedis)('a full journal', () => {
  test('drops nothing while a primary without replicas does not answer', async () => {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    let onReplay: (replayed: Replayed) => void = () => {}
    const replay = new Promise<Replayed>((resolve) => {
      onReplay = resolve
    })
    let queue = 'q'
    // Shorter than by default, since the add below is refused after it; longer than a busy machine holds up a server.
    const driver = redisDriver({
      url: server.url,
      timeoutMs: 5_000,
      onReplay: (one) => one.queue === queue && onReplay(one),
    })
    await driver.open({})
    onTestFinished(() => driver.close())
    const count = 525
    const fill = async (): Promise<number> => {
      const startedAt = performance.now()
      for (let from = 0; from < count; from += 25) {
        const asks = Array.from({ length: 25 }, (_, nth) => ask(`k${from + nth}`))
        await driver.add(queue, asks, options)
      }
      return performance.now() - startedAt
    }
    // Adds stay in a journal for ten seconds: where the machine takes longer, that of the next queue is filled.
    while ((await fill()) > 8_000) queue += 'q'
    server.pause()
    const adding = Promise.resolve(driver.add(queue, [ask('more')], options))
    await assert.rejects(adding, { code: 'ERR_STORE_BUSY' })
    // It comes back without anything.
    await server.kill()
    await server.start()
    assert.equal((await replay).adds, count)
  })
})
