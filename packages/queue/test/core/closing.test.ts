import { describe, expect, test } from 'vitest'
import { createWorker, type Held, SluiceError } from '../../src/index.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { refusal } from '../support/refusal.ts'
import { holding, late, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('close over $way', (setup) => {
  test('close: then get gives undefined, finishing is lost, others reject with ERR_CLOSED', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addMany(['a', 'b', 'c'])
    const [a, b, c] = await queue.getMany(3)
    const closing = queue.close()
    await scene.clock.step(1_000)
    await closing
    expect(await queue.get()).toBe(undefined)
    expect(await queue.getMany(3)).toEqual([])
    for await (const held of queue) throw new Error(`handed out ${held.key}`)
    expect(await a?.done()).toBe('lost')
    expect(await a?.retry()).toBe('lost')
    expect(await b?.release()).toBe('lost')
    expect(await b?.park()).toBe('lost')
    expect(await queue.done('a')).toBe('lost')
    expect(await queue.doneMany([c as Held<string>])).toEqual(['lost'])
    const others = [
      queue.add('a'),
      queue.addMany(['a']),
      queue.addAfter('a', 5),
      queue.addRateLimited('a'),
      queue.forget('a'),
      queue.numRequeues('a'),
      queue.cancel('a'),
      queue.len(),
      queue.shutDown(),
      queue.shutDownWithDrain(),
    ]
    for (const other of others) expect(await refusal(other)).toMatchObject({ code: 'ERR_CLOSED' })
    queue.addSoon('a')
    // For the keys that it still held, and for the add without a caller.
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING', 'ERR_CLOSED'])
    expect(queue.shuttingDown).toBe(true)
  })

  test('close: is idempotent, also while it is under way', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await Promise.all([queue.close(), queue.close()])
    await queue.close()
    await queue[Symbol.asyncDispose]()
  })

  test('close: of a queue that was never used opens nothing', async () => {
    const scene = new Scene(setup)
    await scene.queue().close()
    expect(scene.clock.waiters()).toBe(0)
  })

  test('close: nothing is taken or handed out from the moment of the call', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const waiting = seen(queue.get())
    await scene.quiet()
    await waiting.value?.release()
    const closing = queue.close()
    expect(queue.shuttingDown).toBe(true)
    const calls = [queue.get(), queue.add('b')] as const
    expect(await refusal(calls[1])).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await calls[0]).toBe(undefined)
    await closing
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('close: waiters are answered at once', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('held')
    await take(queue)
    const getters = [seen<unknown>(queue.get()), seen<unknown>(queue.getMany(2))]
    const drained = seen(queue.shutDownWithDrain())
    await scene.quiet()
    const closing = queue.close()
    await scene.quiet()
    expect(getters.map(({ value }) => value)).toEqual([undefined, []])
    expect(drained.state).toBe('resolved')
    await scene.clock.step(1_000)
    await closing
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })

  test('close: without a grace, signals are aborted at once and a second is waited', async () => {
    const { scene, queue, held } = await holding(setup)
    const closing = seen(queue.close())
    await scene.clock.step(0)
    expect(SluiceError.is(held.signal.reason, 'ERR_CLOSING')).toBe(true)
    await scene.clock.step(999)
    expect(closing.state).toBe('waiting')
    await scene.clock.step(1)
    expect(closing.state).toBe('resolved')
    expect(await held.done()).toBe('lost')
    expect(await scene.states()).toEqual({ a: 'processing' })
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })

  test('close: work given back within that second counts, and ends the wait', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addMany(['a', 'b', 'c'])
    const [a, b, c] = await queue.getMany(3)
    const closing = seen(queue.close())
    await scene.clock.step(500)
    expect(await a?.done()).toBe('idle')
    expect(await b?.retry(new Error('interrupted'))).toBe('delayed')
    expect(await c?.release()).toBe('ready')
    await scene.quiet()
    expect(closing.state).toBe('resolved')
    expect(await scene.states()).toEqual({ b: 'backoff', c: 'ready' })
  })

  test('close: graceMs is how long holders have before their signals are aborted', async () => {
    const { scene, queue, held } = await holding(setup)
    const closing = seen(queue.close({ graceMs: 5_000 }))
    await scene.clock.step(4_999)
    expect([held.signal.aborted, closing.state]).toEqual([false, 'waiting'])
    await scene.clock.step(1)
    expect([held.signal.aborted, closing.state]).toEqual([true, 'waiting'])
    expect(scene.errors).toEqual([])
    await scene.clock.step(1_000)
    expect(closing.state).toBe('resolved')
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })

  test('close: by default, handlers of workers have ten seconds, and keys taken by hand none', async () => {
    const { scene, queue, held } = await holding(setup)
    const signals = new Map<string, AbortSignal>()
    let finish = (): void => undefined
    createWorker({
      queue,
      concurrency: 2,
      handler: (item, { signal }) => {
        signals.set(item, signal)
        return item === 'slow'
          ? new Promise(() => {})
          : new Promise((resolve) => (finish = resolve))
      },
    })
    await queue.addMany(['slow', 'quick'])
    await scene.quiet()
    expect([...signals.keys()]).toEqual(['slow', 'quick'])
    const closing = seen(queue.close())
    await scene.clock.step(0)
    expect(held.signal.reason).toMatchObject({ code: 'ERR_CLOSING' })
    finish()
    await scene.clock.step(9_999)
    expect([...signals.values()].map(({ aborted }) => aborted)).toEqual([false, false])
    expect(closing.state).toBe('waiting')
    await scene.clock.step(1)
    expect([...signals.values()].map(({ aborted }) => aborted)).toEqual([true, false])
    await scene.clock.step(1_000)
    expect(closing.state).toBe('resolved')
    expect((await scene.states())['quick']).toBe(undefined)
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })

  test('close: ends when the last handler has returned', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    let finish = (): void => undefined
    createWorker({ queue, handler: () => new Promise((resolve) => (finish = resolve)) })
    await queue.add('a')
    await scene.quiet()
    const closing = seen(queue.close())
    await scene.clock.step(500)
    expect(closing.state).toBe('waiting')
    finish()
    await scene.quiet()
    expect(closing.state).toBe('resolved')
    expect(await scene.states()).toEqual({})
  })

  test('close: the grace ends with the last key that is given back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const [a, b] = await queue.getMany(2)
    const closing = seen(queue.close({ graceMs: 60_000 }))
    await scene.clock.step(10)
    await a?.done()
    await scene.clock.step(10)
    expect(closing.state).toBe('waiting')
    await b?.done()
    await scene.quiet()
    expect([closing.state, b?.signal.aborted]).toEqual(['resolved', false])
  })

  test('keys that are not given back in time are named in one error', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(Array.from({ length: 12 }, (_, at) => `k${at}`))
    const helds = await queue.getMany(12)
    await helds[0]?.done()
    const closing = queue.close()
    await scene.clock.step(1_000)
    await closing
    const [error] = scene.errors
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
    expect(String(error)).toContain(
      'was closed before these keys were given back: "k1", "k2", "k3"',
    )
    const isLeased = setup.options.leaseMs !== undefined
    const fate = isLeased ? 'they run again when their leases end' : 'they stay held'
    expect(String(error)).toContain(`"k10", 1 more; ${fate}`)
    expect(String(error)).not.toContain('"k0"')
  })

  test('close: a holder may add its key again until the queue is closed; no other caller may add', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('a')
    const held = await take(queue)
    const closing = queue.close({ graceMs: 1_000 })
    await scene.clock.step(0)
    expect(await queue.addAfter('a', 50)).toBe('added')
    expect(await refusal(queue.add('b'))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await refusal(queue.addAfter('b', 5))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await queue.get()).toBe(undefined)
    expect(await held.done()).toBe('delayed')
    await closing
  })

  test('close: after a shutdown, and while it drains', async () => {
    const scene = new Scene(setup)
    const one = scene.queue()
    await one.shutDown()
    await one.close()
    const two = scene.queue()
    await two.add('a')
    const held = await take(two)
    const drained = seen(two.shutDownWithDrain())
    const closing = seen(two.close({ graceMs: 100 }))
    await scene.clock.step(50)
    expect([drained.state, closing.state]).toEqual(['resolved', 'waiting'])
    await held.done()
    await closing
    expect(await refusal(two.shutDownWithDrain())).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await refusal(two.shutDown())).toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('close: calls that were accepted are answered', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('a')
    const held = await take(queue)
    const calls = [queue.add('b'), queue.addAfter('c', 10), held.done(), queue.addRateLimited('d')]
    await queue.close()
    expect(await Promise.all(calls)).toEqual(['added', 'added', 'idle', 'added'])
    expect(await scene.states()).toEqual({ b: 'ready', c: 'delayed', d: 'backoff' })
  })

  test('close: nothing runs afterwards', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    const waiting = queue.get()
    await (await waiting)?.done()
    const another = queue.get()
    await scene.quiet()
    const closing = queue.close()
    await scene.clock.step(1_000)
    await closing
    expect(await another).toBe(undefined)
    expect(scene.clock.waiters()).toBe(0)
    expect(held.signal.aborted).toBe(true)
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })

  test('close: leaving a scope closes the queue', async () => {
    const scene = new Scene(setup)
    const other = scene.queue()
    {
      await using queue = scene.queue()
      await queue.add('a')
    }
    expect((await take(other)).key).toBe('a')
  })

  test('layers over one queue are closed together', async () => {
    const { createRateLimitingQueue } = await import('../../src/index.ts')
    const scene = new Scene(setup)
    const below = scene.queue()
    const above = createRateLimitingQueue({ queue: below })
    await above.addRateLimited('a')
    await above.close()
    expect(await refusal(below.add('b'))).toMatchObject({ code: 'ERR_CLOSED' })
    await below.close()
  })
})

test('close: keys taken by hand are not told later because a handler runs and the store is silent', async () => {
  const { scene, queue, held } = await holding(late)
  createWorker({ queue, handler: () => new Promise(() => {}) })
  await queue.add('running')
  await scene.quiet()
  const time = fakeRealTime()
  scene.late.hold('add')
  const adding = seen(queue.add('unanswered'))
  await scene.quiet()
  const closing = seen(queue.close())
  await time.pass(400)
  expect(held.signal.aborted).toBe(false)
  await time.pass(200)
  expect(held.signal.reason).toMatchObject({ code: 'ERR_CLOSING' })
  expect(closing.state).toBe('waiting')
  scene.late.letGo('add')
  await scene.quiet()
  expect(adding.state).toBe('resolved')
  await scene.clock.step(10_000)
  await scene.clock.step(1_000)
  await scene.quiet()
  expect(closing.state).toBe('resolved')
  expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
})

test('close: called again with a grace of 0, it ends within two seconds, also if the store is silent', async () => {
  const { scene, queue, held } = await holding(late)
  const time = fakeRealTime()
  scene.late.hold('add')
  const adding = seen(queue.add('unanswered'))
  await scene.quiet()
  const closing = seen(queue.close({ graceMs: 10_000 }))
  await time.pass(2_000)
  expect(held.signal.aborted).toBe(false)
  void queue.close({ graceMs: 0 })
  await time.pass(600)
  expect(held.signal.reason).toMatchObject({ code: 'ERR_CLOSING' })
  await time.pass(1_500)
  expect(closing.state).not.toBe('waiting')
  expect(adding.state).toBe('rejected')
  scene.takeErrors()
})

test('close: a key that is given back in the last second is answered, also if the store takes longer', async () => {
  const { scene, queue, held } = await holding(late)
  fakeRealTime()
  const closing = seen(queue.close())
  await scene.quiet()
  scene.late.hold('finish')
  const done = seen(held.done())
  await scene.clock.step(1_000)
  await scene.quiet()
  expect([closing.state, done.state]).toEqual(['waiting', 'waiting'])
  scene.late.letGo('finish')
  await scene.quiet()
  expect([closing.state, done.state, done.value]).toEqual(['resolved', 'resolved', 'idle'])
  expect(scene.takeErrors()).toEqual([])
})
