import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { redisDriver } from '@sluice/redis'
import { sqliteDriver } from '@sluice/sqlite'
import { hasRedis, onDisk, startRedis } from '@sluice/test-redis'
import { createQueue, memoryDriver, SluiceError } from 'sluice'
import { moveQueues } from 'sluice/transfer'
import { expect, onTestFinished, test } from 'vitest'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { around } from '../../support/transfer/around.ts'
import { keepOpen } from '../../support/transfer/full-queue.ts'

const name = 'orders'

test.skipIf(!hasRedis)(
  'a move goes on when the server it moves to is there again: meanwhile no side hands out keys',
  async () => {
    const server = await startRedis({ settings: onDisk })
    onTestFinished(() => server.dispose())
    const path = emptyFile()
    const open = () => sqliteDriver({ file: path, durability: 'process' })
    const target = redisDriver({ url: server.url })
    const queue = createQueue<string>({ name, driver: open() })
    onTestFinished(() => queue.close())
    await queue.addMany(Array.from({ length: 2_500 }, (_, index) => `order/${index}`))

    let imports = 0
    const to = around(target, 'importRows', async () => {
      imports += 1
      if (imports === 1) await server.kill()
    })
    const from = around(open(), 'counts', async () => {
      if (imports > 0 && !server.isRunning) await server.start()
    })
    const moving = moveQueues({ from, to })
    expect(await moving).toEqual([{ queue: name, moved: 2_500 }])
    expect(await queue.len()).toBe(0)

    const moved = createQueue<string>({ name, driver: redisDriver({ url: server.url }) })
    onTestFinished(() => moved.close())
    expect(await moved.inspect.counts()).toMatchObject({ ready: 2_500, paused: false })
  },
)

test.each(['queues', 'buckets', 'importBuckets'])(
  'a move goes on after %s failed for a while',
  async (verb) => {
    const clock = fakeClock()
    const [from, to] = [memoryDriver(), memoryDriver()]
    await using queue = createQueue<string>({ name, driver: from, clock })
    await queue.add('a')
    let calls = 0
    const failing = (driver: Driver): Driver =>
      around(driver, verb, () => {
        calls += 1
        if (calls < 3) throw new SluiceError('ERR_STORE', 'a failover is under way')
      })
    const moving = moveQueues({ from: failing(from), to: failing(to), clock })
    const moved = expect(moving).resolves.toEqual([{ queue: name, moved: 1 }])
    await clock.step(10_000)
    await moved
    expect(calls).toBeGreaterThan(2)
  },
)

test('a move that makes no progress for a minute fails with the error of the store', async () => {
  const clock = fakeClock()
  const [from, to] = [memoryDriver(), memoryDriver()]
  await keepOpen(from, clock)
  await keepOpen(to, clock)
  const queue = createQueue<string>({ name, driver: from, clock })
  await queue.add('a')
  const full = new SluiceError('ERR_STORE_FULL', 'the disk is full', { retryable: true })
  let tries = 0
  const failing = around(to, 'importRows', () => {
    tries += 1
    throw full
  })
  const moving = moveQueues({ from, to: failing, clock })
  const refused = expect(moving).rejects.toBe(full)
  await clock.step(70_000)
  await refused
  expect(tries).toBe(60)
  await queue.close()
})
