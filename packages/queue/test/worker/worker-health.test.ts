import { SluiceError } from '@sluice/core'
import { expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { direct, late, leased, Scene, seen, setups } from '../support/setups.ts'

const idle = { handler: () => undefined }

test.each(setups)('a worker that gets on with it is live and ready ($way)', async (setup) => {
  const scene = new Scene(setup)
  const worker = createWorker({ queue: scene.queue(), ...idle })
  await scene.clock.step(0)
  expect(worker.health()).toMatchObject({ live: true, ready: true, reasons: [] })
  await scene.clock.step(100_000)
  expect(worker.health()).toMatchObject({ live: true, ready: true, reasons: [] })
  await worker.stop()
})

test('a worker that is stopping is live, and not ready any more', async () => {
  const scene = new Scene(direct)
  const queue = scene.queue()
  const running = Promise.withResolvers<void>()
  const worker = createWorker({ queue, handler: () => running.promise })
  await queue.add('a')
  await scene.clock.step(0)
  const stopping = worker.stop()
  expect(worker.health()).toMatchObject({ live: true, ready: false, reasons: ['STOPPING'] })
  running.resolve()
  await stopping
  expect(worker.health()).toMatchObject({ live: true, ready: false, reasons: ['STOPPED'] })
  // As the end of a block with `await using` does.
  await worker.stop()
  expect(worker.health().reasons, 'after another stop').toEqual(['STOPPED'])
  // A timer that is left keeps the process alive.
  expect(scene.clock.waiters()).toBe(0)
})

test('a worker whose queue was shut down is not ready', async () => {
  const scene = new Scene(direct)
  const queue = scene.queue()
  const running = Promise.withResolvers<void>()
  const worker = createWorker({ queue, handler: () => running.promise })
  await queue.add('a')
  await scene.clock.step(0)
  await queue.shutDown()
  expect(worker.health()).toMatchObject({ live: true, ready: false, reasons: ['QUEUE_SHUT_DOWN'] })
  running.resolve()
  await worker.stopped
})

// real time: trouble with a store is waited out in real time, whatever clock is given.
test('trouble with the store makes it unready and leaves it alive', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  let isAway = true
  scene.late.before = async () => {
    await nextTurn()
    if (isAway) throw new SluiceError('ERR_STORE', 'away', { retryable: true })
  }
  const worker = createWorker({ queue, ...idle })
  await scene.quiet()
  expect(worker.health()).toMatchObject({ live: true, ready: false })
  expect(worker.health().reasons).toContain('STORE_IN_TROUBLE')
  isAway = false
  await queue.add('a')
  expect(worker.health()).toMatchObject({ live: true, ready: true, reasons: [] })
  await worker.stop()
  expect(new Set(scene.takeErrors())).toEqual(new Set(['ERR_STORE']))
})

test.each(['claim', 'finish'])(
  'a %s that fails again and again is trouble, whatever else is answered',
  async (verb) => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    let isAway = true
    let made = 0
    scene.late.before = async (call) => {
      await nextTurn()
      if (call.verb !== verb) return
      made += 1
      if (isAway) throw new SluiceError('ERR_STORE', 'away', { retryable: true })
    }
    const another = async () => {
      for (const before = made; made === before; ) await time.pass(50)
      await scene.quiet()
    }
    const worker = createWorker({ queue, ...idle })
    await queue.add('a')
    await scene.quiet()
    expect(made).toBeGreaterThan(0)
    await queue.add('b')
    expect(worker.health()).toMatchObject({ ready: true })
    await another()
    await queue.add('c')
    expect(worker.health()).toMatchObject({ live: true, reasons: ['STORE_IN_TROUBLE'] })
    isAway = false
    await another()
    expect(worker.health()).toMatchObject({ live: true, ready: true, reasons: [] })
    await worker.stop()
    // A finish is repeated while its lease lasts, and reported when that ends.
    const reported = verb === 'claim' ? ['ERR_STORE'] : []
    expect([...new Set(scene.takeErrors())]).toEqual(reported)
  },
)

test('a permanent error ends it: stopped rejects, onError is called, and it is not live', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  const worker = createWorker({ queue, concurrency: 2, ...idle })
  await scene.clock.step(0)
  scene.late.before = () => {
    throw new SluiceError('ERR_STORE_DAMAGED', 'damaged')
  }
  const stopped = seen(worker.stopped)
  await scene.clock.step(20_000)
  expect(stopped.error).toMatchObject({ code: 'ERR_STORE_DAMAGED' })
  expect(worker.health()).toMatchObject({ live: false, ready: false, reasons: ['FAILED'] })
  expect(new Set(scene.takeErrors())).toEqual(new Set(['ERR_STORE_DAMAGED']))
  scene.late.before = nextTurn
})

test('a worker that a permanent error has ended takes no more keys; runUntilIdle rejects with it', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  const running = Promise.withResolvers<void>()
  const ran: string[] = []
  const handler = (item: string) => {
    ran.push(item)
    return running.promise
  }
  const worker = createWorker({ queue, concurrency: 2, handler })
  await queue.add('a')
  await scene.quiet()
  const idle = seen(worker.runUntilIdle())
  scene.late.before = ({ verb }) => {
    if (verb === 'claim') throw new SluiceError('ERR_STORE_DAMAGED', 'damaged')
  }
  await queue.add('b')
  await scene.quiet()
  scene.late.before = nextTurn
  expect(idle.error).toMatchObject({ code: 'ERR_STORE_DAMAGED' })
  running.resolve()
  await scene.clock.step(20_000)
  expect(ran).toEqual(['a'])
  await expect(worker.runUntilIdle()).rejects.toMatchObject({ code: 'ERR_STORE_DAMAGED' })
  expect(scene.takeErrors()).toEqual(['ERR_STORE_DAMAGED'])
})

test('a worker is not ready before the store is open, nor while its queue is closed', async () => {
  const scene = new Scene(late)
  scene.late.hold('open')
  const queue = scene.queue()
  const running = Promise.withResolvers<void>()
  const worker = createWorker({ queue, handler: () => running.promise })
  const adding = queue.add('a')
  await scene.clock.step(0)
  expect(worker.health()).toMatchObject({ live: true, reasons: ['STORE_NOT_OPEN'] })
  scene.late.letGo('open')
  await adding
  await scene.quiet()
  expect(worker.health()).toMatchObject({ ready: true, running: 1 })
  const closing = queue.close()
  expect(worker.health()).toMatchObject({ live: true, reasons: ['QUEUE_CLOSED'] })
  running.resolve()
  await closing
})

test('a process whose timers do not run is not live', async () => {
  const scene = new Scene(leased)
  const queue = scene.queue()
  const running = Promise.withResolvers<void>()
  const worker = createWorker({ queue, handler: () => running.promise })
  await queue.add('a')
  await scene.clock.step(0)
  const monotonicMs = scene.clock.monotonicMs.bind(scene.clock)
  scene.clock.monotonicMs = () => monotonicMs() + 31_000
  expect(worker.health()).toMatchObject({
    live: false,
    reasons: ['NOT_BEATING', 'NOT_RENEWING'],
  })
  scene.clock.monotonicMs = monotonicMs
  running.resolve()
  await worker.stop()
})
