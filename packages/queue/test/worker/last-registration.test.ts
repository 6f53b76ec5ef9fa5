/** What a worker that ends registers, and for how long the end of its queue waits for that. */
import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker, type Queue } from '../../src/index.ts'
import { late, Scene, setups } from '../support/setups.ts'

const ends: Readonly<Record<string, (queue: Queue<string>) => Promise<void>>> = {
  'a queue that is closed': () => Promise.resolve(),
  'a queue that is shut down': (queue) => queue.shutDown(),
  'a queue that is drained': (queue) => queue.shutDownWithDrain(),
}

describe.each(setups)('over $way', (setup) => {
  test.each(Object.entries(ends))(
    'the worker of %s is registered as one that has ended',
    async (_, end) => {
      const scene = new Scene(setup)
      const queue = scene.queue()
      createWorker({ queue, concurrency: 3, handler: () => undefined })
      await queue.add('k')
      await scene.quiet()
      await end(queue)
      await queue.close()
      const workers = await scene.inner.workers?.('q', 60_000)
      expect(workers).toMatchObject([{ concurrency: 0, stats: { runs: 1 } }])
    },
  )
})

describe.each(setups)('over $way', (setup) => {
  test('a worker whose handler ends while its queue closes is registered as one that has ended', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const running = Promise.withResolvers<void>()
    createWorker({ queue, handler: () => running.promise })
    await queue.add('k')
    await scene.quiet()
    const closing = queue.close()
    await scene.quiet()
    running.resolve()
    await closing
    const workers = await scene.inner.workers?.('q', 60_000)
    expect(workers).toMatchObject([{ concurrency: 0, stats: { runs: 1 } }])
  })
})

const longEnds: Readonly<Record<string, (queue: Queue<string>) => Promise<void>>> = {
  'is drained': (queue) => queue.shutDownWithDrain(),
  'is closed with a grace': (queue) => queue.close({ graceMs: 100_000 }),
}

describe.each(setups)('over $way', (setup) => {
  test.each(Object.entries(longEnds))(
    'a worker is seen as long as its handler runs while its queue %s',
    async (_, end) => {
      const scene = new Scene(setup)
      const queue = scene.queue()
      const running = Promise.withResolvers<void>()
      const handler = (key: string) => (key === 'long' ? running.promise : undefined)
      createWorker({ queue, concurrency: 2, handler })
      await queue.addMany(['long', 'short'])
      await scene.quiet()
      const ending = end(queue)
      for (let beats = 0; beats < 6; beats += 1) await scene.clock.step(10_000)
      const workers = await scene.inner.workers?.('q', 15_000)
      expect(workers).toMatchObject([{ concurrency: 2, stats: { busy: 1, runs: 1 } }])
      running.resolve()
      await ending
    },
  )
})

test('a driver is not closed before the registration of an ended worker is answered', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  const worker = createWorker({ queue, handler: () => undefined })
  await scene.quiet()
  scene.late.hold('tick')
  await worker.stop()
  const closing = queue.close()
  await scene.quiet()
  expect([scene.late.waiting('tick'), scene.late.count('close')]).toEqual([1, 0])
  scene.late.letGo('tick')
  await closing
  expect(scene.late.count('close')).toBe(1)
})

test('a store in trouble is not asked to register an ended worker while the queue closes', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  const worker = createWorker({ queue, handler: () => undefined })
  await scene.quiet()
  scene.late.before = ({ verb }) => {
    if (verb !== 'close') throw new SluiceError('ERR_STORE', 'away', { retryable: true })
  }
  await expect(queue.add('k')).rejects.toMatchObject({ code: 'ERR_STORE' })
  await scene.clock.step(10_000)
  const ticks = scene.late.count('tick')
  await worker.stop()
  await queue.close()
  expect(scene.late.count('tick')).toBe(ticks)
  expect(scene.takeErrors()).toContain('ERR_STORE')
})
