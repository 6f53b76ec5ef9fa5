import type { TickRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { expect, test } from 'vitest'
import { createQueue, createWorker } from '../../src/index.ts'
import { LateDriver, nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'

const away = new SluiceError('ERR_STORE', 'away', { retryable: true })

test('a key that is delayed is run on time though a heartbeat failed and the next one is not answered', async () => {
  const time = fakeRealTime({ withDate: true })
  const inner = memoryDriver()
  const driver = new LateDriver(inner)
  // No hint makes the worker ask once more.
  Object.assign(driver, { watch: undefined })
  let heartbeats = 0
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  driver.before = async ({ verb, request }) => {
    await nextTurn()
    if (verb !== 'tick' || (request as TickRequest).worker === undefined) return
    heartbeats += 1
    if (heartbeats === 1) throw away
    await answered
  }
  const ask = { key: 'k', item: undefined, priority: 0, delayMs: 3_000 }
  await inner.add('q', [ask], { dedupe: 'client-go', failuresExpireMs: 86_400_000 })
  const started: string[] = []
  const queue = createQueue<string>({ name: 'q', driver, onError() {} })
  const worker = createWorker({ queue, handler: (item) => void started.push(item) })
  await time.pass(3_100)
  expect(heartbeats).toBeGreaterThan(1)
  expect(started).toEqual(['k'])
  answer()
  const closing = Promise.all([worker.stop(), queue.close()])
  await time.pass(2_000)
  await closing
})
