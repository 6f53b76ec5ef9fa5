import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, test } from 'vitest'
import { createQueue, createWorker } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { drainKeys, holding, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('shutDown over $way', (setup) => {
  test('every kind of add is refused with ERR_SHUT_DOWN', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.shutDown()
    const adds = [
      queue.add('a'),
      queue.addMany(['a', 'b']),
      queue.addAfter('a', 5),
      queue.addAfter('a', 0),
      queue.addRateLimited('a'),
    ]
    for (const add of adds) expect(await refusal(add)).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    queue.addSoon('a')
    expect(scene.takeErrors()).toEqual(['ERR_SHUT_DOWN'])
    expect(await scene.states()).toEqual({})
  })

  test('queued keys can still be taken, then get gives undefined', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    await queue.shutDown()
    expect(await queue.len()).toBe(2)
    expect((await queue.get())?.key).toBe('a')
    expect((await queue.get())?.key).toBe('b')
    expect(await queue.get()).toBe(undefined)
    expect(await queue.get()).toBe(undefined)
  })

  test('get gives undefined at once, even while keys are held', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await take(queue)
    await queue.add('a')
    await queue.shutDown()
    expect(await queue.get()).toBe(undefined)
    expect(await queue.getMany(3)).toEqual([])
  })

  test('it wakes all waiters', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const getters = [queue.get(), queue.get(), queue.getMany(5)].map((get) => seen<unknown>(get))
    await scene.quiet()
    await queue.shutDown()
    await scene.quiet()
    expect(getters.map(({ value }) => value)).toEqual([undefined, undefined, []])
    expect(getters.every(({ state }) => state === 'resolved')).toBe(true)
  })

  test('it can be called twice, and together, and resolves each time', async () => {
    const queue = new Scene(setup).queue()
    await Promise.all([queue.shutDown(), queue.shutDown()])
    await queue.shutDown()
    expect(queue.shuttingDown).toBe(true)
  })

  test('shuttingDown says so from the moment of the call, for ever', async () => {
    const queue = new Scene(setup).queue()
    expect(queue.shuttingDown).toBe(false)
    const shuttingDown = queue.shutDown()
    expect(queue.shuttingDown).toBe(true)
    expect(await refusal(queue.add('a'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    await shuttingDown
    expect(queue.shuttingDown).toBe(true)
  })

  test('Shutdown: acts on this object, not on the store', async () => {
    const scene = new Scene(setup)
    const one = scene.queue()
    const other = scene.queue()
    await one.add('a')
    await one.shutDown()
    expect(other.shuttingDown).toBe(false)
    expect(await other.add('b')).toBe('added')
    expect(await drainKeys(other)).toEqual(['a', 'b'])
  })

  test('Shutdown: only keys that were due at the time of the call are handed out', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const other = scene.queue()
    await queue.addAfter('at that time', 100)
    await queue.addAfter('later', 101)
    await scene.clock.step(100)
    await queue.shutDown()
    await scene.clock.step(5)
    await other.add('added since', { priority: 9 })
    expect(await queue.len()).toBe(3)
    expect((await queue.get())?.key).toBe('at that time')
    expect(await queue.get()).toBe(undefined)
    expect(await drainKeys(other)).toEqual(['added since', 'later'])
  })

  test('Shutdown: delayed keys stay in the store', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('a', 100)
    await queue.shutDown()
    expect(await scene.states()).toEqual({ a: 'delayed' })
    await scene.clock.step(100)
    expect(await queue.get()).toBe(undefined)
    expect((await take(scene.queue())).key).toBe('a')
  })

  test('Shutdown: getters of a shut down queue do not wait for paused or parked keys', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['parked', 'paused'])
    await (await take(queue)).park()
    await scene.operate.pause('q')
    await queue.shutDown()
    expect(await queue.get()).toBe(undefined)
  })

  test('an aborted get of a shut down queue rejects', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    await queue.shutDown()
    const reason = new Error('enough')
    expect(await refusal(queue.get({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect((await queue.get())?.key).toBe('a')
  })
})

describe.each(setups)('giving work back after shutDown over $way', (setup) => {
  test('Shutdown: done, retry, release, park and forget are accepted', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addMany(['done', 'retry', 'release', 'park'])
    const [done, retry, release, park] = await queue.getMany(4)
    await queue.shutDown()
    expect(await done?.done()).toBe('idle')
    expect(await retry?.retry(new Error('x'))).toBe('delayed')
    expect(await release?.release()).toBe('ready')
    expect(await park?.park()).toBe('parked')
    expect(await queue.forget('retry')).toBe('forgotten')
    expect(await queue.numRequeues('retry')).toBe(0)
    expect(await queue.cancel('retry')).toBe('cancelled')
  })

  test('Shutdown: addAfter and addRateLimited of a held key are accepted, of others refused', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('held')
    const held = await take(queue)
    await queue.shutDown()
    expect(await queue.addAfter('held', 50)).toBe('added')
    expect(await queue.addRateLimited('held')).toBe('moved')
    expect(await refusal(queue.addAfter('other', 50))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(await refusal(queue.add('held'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(await held.done()).toBe('delayed')
    expect(await refusal(queue.addAfter('held', 5))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(await scene.states()).toEqual({ held: 'backoff' })
  })

  test('a key that was dirty at the shutdown can be taken once it is done', async () => {
    const { scene, queue, held } = await holding(setup)
    await queue.add('a')
    await queue.shutDown()
    expect(await queue.get()).toBe(undefined)
    await scene.clock.step(5)
    expect(await held.done()).toBe('ready')
    expect((await queue.get())?.key).toBe('a')
    expect(await queue.get()).toBe(undefined)
  })

  test('Shutdown: a released key is due when it was, and can be taken again', async () => {
    const { scene, queue, held } = await holding(setup)
    await queue.shutDown()
    await scene.clock.step(5)
    await held.release()
    expect((await queue.get())?.key).toBe('a')
  })
})

test('a get ends at once also while its queue rests because other processes have the keys', async () => {
  const clock = fakeClock()
  const inner = memoryDriver()
  /** Keys are due, and each claim finds them locked. */
  const driver = new Proxy(inner, {
    get(_, name) {
      if (name === 'direct') return undefined
      if (name === 'claim') return () => ({ claims: [], leaseEnds: [], now: clock.now() })
      const value: unknown = Reflect.get(inner, name, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
  const queue = createQueue<string>({ name: 'orders', driver, clock, leaseMs: 30_000 })
  await queue.add('locked')
  let isTold = false
  const got = queue.get().then((held) => {
    isTold = true
    return held
  })
  // Both of the claims after which it rests.
  await clock.step(0)
  expect(isTold).toBe(false)
  await queue.shutDown()
  await clock.step(0)
  expect(isTold).toBe(true)
  expect(await got).toBeUndefined()
  await queue.close()
})

test.each(setups)(
  'a worker of a shut down queue that waits for a key of another holder can be stopped ($way)',
  async (setup) => {
    const { scene, queue, held } = await holding(setup)
    const worker = createWorker({ queue, handler: () => undefined })
    void queue.shutDown()
    await scene.quiet()
    const stopping = seen(worker.stop())
    const stopped = seen(worker.stopped)
    await scene.quiet()
    expect([stopping.state, stopped.state]).toEqual(['resolved', 'resolved'])
    await held.done()
  },
)
