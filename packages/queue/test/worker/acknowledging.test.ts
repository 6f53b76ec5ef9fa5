import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, type Setup, seen, unleased } from '../support/setups.ts'

const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const done = { as: 'done', forget: true } as const
const whole = { dedupe: 'client-go', failuresExpireMs: 1_000 } as const

/** A key that was added again in its first run, which has ended and is not acknowledged. */
async function addedAgain(setup: Setup) {
  const scene = new Scene(setup)
  const queue = scene.queue({ prefetch: 3 })
  await queue.add('a')
  const runs: string[] = []
  const answers = Promise.withResolvers<void>()
  // The scene is quiet while answers are kept back.
  scene.late.after = async ({ verb }) => {
    if (verb !== 'finish') return
    scene.late.inFlight -= 1
    await answers.promise
    scene.late.inFlight += 1
  }
  const worker = createWorker({
    queue,
    concurrency: 2,
    handler: async (item) => {
      runs.push(item)
      if (runs.length === 1) await queue.add('a')
    },
  })
  await scene.quiet()
  // The store has finished the first run, and handed the key out again.
  expect((await scene.row('a'))?.state).toBe('processing')
  expect([runs.length, worker.finishing]).toEqual([1, 1])
  return { scene, queue, runs, worker, answers }
}

describe.each([late, unleased])('a run whose finish is under way, over $way', (setup) => {
  test('holds no slot, and is counted', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    scene.late.hold('finish')
    const started: string[] = []
    const worker = createWorker({ queue, handler: (item) => void started.push(item) })
    await scene.quiet()
    expect(started).toEqual(['a', 'b', 'c', 'd'])
    expect([worker.running, worker.finishing]).toEqual([0, 4])
    expect(worker.health()).toMatchObject({ ready: true, running: 0, finishing: 4 })
    await scene.clock.step(10_000)
    const [row] = (await scene.inner.workers?.('q', 60_000)) ?? []
    expect(row?.stats).toMatchObject({ busy: 0, finishing: 4, runs: 4 })
    scene.late.letGo('finish')
    await worker.runUntilIdle()
    expect(started).toEqual(keys)
    expect(worker.finishing).toBe(0)
  })

  test('is bounded: a store that does not answer stops the worker', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2 })
    await queue.addMany(keys)
    const started: string[] = []
    let running = 0
    let most = 0
    const gate = Promise.withResolvers<void>()
    scene.late.hold('finish')
    const worker = createWorker({
      queue,
      concurrency: 3,
      handler: async (item) => {
        started.push(item)
        running += 1
        if (item === 'a') await gate.promise
        running -= 1
      },
    })
    scene.late.before = async () => {
      await nextTurn()
      const { rows } = await scene.inner.list('q', { state: 'processing', limit: 100 })
      most = Math.max(most, rows.length)
    }
    await scene.quiet()
    expect([started.length, running, worker.finishing]).toEqual([5, 1, 4])
    gate.resolve()
    await scene.quiet()
    expect([started.length, worker.finishing, most]).toEqual([5, 5, 5])
    scene.late.letGo('finish')
    await worker.runUntilIdle()
    expect([started.length, most]).toEqual([8, 5])
  })

  test('is handed over in the turn in which the handler returns', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const gate = Promise.withResolvers<void>()
    createWorker({ queue, handler: () => gate.promise })
    await scene.quiet()
    scene.late.before = () => undefined
    gate.resolve()
    for (let turn = 0; turn < 10; turn += 1) await undefined
    expect(scene.late.count('finish')).toBe(1)
  })

  test('keeps its key from running again until it is acknowledged', async () => {
    const { scene, runs, worker, answers } = await addedAgain(setup)
    answers.resolve()
    await scene.quiet()
    expect(runs).toHaveLength(2)
    await worker.stop()
  })

  test('that a stop gives up does not let the next run of its key begin', async () => {
    const { scene, runs, worker, answers } = await addedAgain(setup)
    const stopping = seen(worker.stop({ graceMs: 500 }))
    await scene.clock.step(1_500)
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
    answers.resolve()
    await scene.quiet()
    expect([stopping.state, runs.length]).toEqual(['resolved', 1])
    expect((await scene.row('a'))?.state).toBe('ready')
  })

  test('that a close gives up does not let the next run of its key begin', async () => {
    const time = fakeRealTime()
    const { scene, queue, runs, worker, answers } = await addedAgain(setup)
    scene.forget(queue)
    const closing = seen(queue.close())
    for (let step = 0; step < 5; step += 1) {
      await time.pass(1_000)
      await scene.clock.step(1_000)
    }
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
    answers.resolve()
    await scene.quiet()
    expect([closing.state, runs.length]).toEqual(['resolved', 1])
    await worker.stop()
  })

  test('makes room for every worker of its queue', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 0 })
    const ends = new Map<string, () => void>()
    const started: string[] = []
    const work = (concurrency: number, name: string) =>
      createWorker({
        queue,
        concurrency,
        handler: (item) => {
          started.push(`${name} ${item}`)
          return new Promise<void>((resolve) => ends.set(item, resolve))
        },
      })
    const end = async (...items: string[]): Promise<void> => {
      for (const item of items) ends.get(item)?.()
      await scene.quiet()
    }
    const large = work(3, 'large')
    await queue.addMany(['a', 'b', 'c'])
    await scene.quiet()
    const small = work(1, 'small')
    await queue.addMany(['d', 'e', 'f', 'g'])
    await scene.quiet()
    scene.late.hold('finish')
    await end('a')
    await end('b', 'd')
    // The finish of `a` is acknowledged, and those of `b` and `d` are sent together.
    scene.late.letGo('finish')
    scene.late.hold('finish')
    await scene.quiet()
    await end('c', 'e')
    // The large worker has three loops for the room of two finishes.
    scene.late.letGo('finish')
    await scene.quiet()
    await end('f', 'g')
    const stopping = large.stop()
    await queue.add('h')
    await scene.quiet()
    expect(started.slice(-1)).toEqual(['small h'])
    await end('h')
    await small.runUntilIdle()
    await stopping
  })

  test('is not aborted, and finished once, though its lease was lost', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    let signal: AbortSignal | undefined
    scene.late.hold('finish')
    const worker = createWorker({
      queue,
      handler: (_, context) => {
        signal = context.signal
      },
    })
    await scene.quiet()
    const { token = 0 } = (await scene.row('a')) ?? {}
    await scene.inner.finish('q', [{ ...done, key: 'a', token }], whole)
    scene.late.letGo('finish')
    await scene.clock.step(10_000)
    expect(scene.late.count('finish')).toBe(1)
    expect(signal?.aborted).toBe(false)
    const [row] = (await scene.inner.workers?.('q', 60_000)) ?? []
    expect(row?.stats).toMatchObject({ runs: 1, finishing: 0, lost: 1 })
    await worker.stop()
  })

  test('is waited for by stop, drain, close and runUntilIdle', async () => {
    for (const verb of ['stop', 'drain', 'close', 'idle'] as const) {
      const scene = new Scene(setup)
      const queue = scene.queue({ prefetch: 1 })
      await queue.add('a')
      scene.late.hold('finish')
      const worker = createWorker({ queue, handler: () => undefined })
      await scene.quiet()
      const ends = {
        stop: () => worker.stop(),
        drain: () => queue.shutDownWithDrain(),
        close: () => queue.close({ graceMs: 1_000 }),
        idle: () => worker.runUntilIdle(),
      }
      const ending = seen(ends[verb]())
      await scene.quiet()
      expect([verb, ending.state]).toEqual([verb, 'waiting'])
      scene.late.letGo('finish')
      await scene.quiet()
      expect([verb, ending.state]).toEqual([verb, 'resolved'])
      expect(await scene.states()).toEqual({})
      await scene.end()
    }
  })

  test('is given up by stop after the grace and a second, in one error with handlers', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2 })
    await queue.addMany(['finished', 'rude'])
    scene.late.hold('finish')
    const told: unknown[] = []
    const signals = new Map<string, AbortSignal>()
    const stuck = Promise.withResolvers<void>()
    const worker = createWorker({
      queue,
      abandonMs: 2_000,
      onError: (error) => told.push(error),
      handler: (item, { signal }) => {
        signals.set(item, signal)
        return item === 'rude' ? stuck.promise : undefined
      },
    })
    await scene.quiet()
    const stopping = seen(worker.stop({ graceMs: 500 }))
    await scene.clock.step(1_499)
    expect(stopping.state).toBe('waiting')
    await scene.clock.step(1)
    expect(stopping.state).toBe('resolved')
    expect(scene.errors).toHaveLength(1)
    expect(String(scene.errors[0])).toContain('"rude", "finished"')
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
    expect(signals.get('rude')?.aborted).toBe(true)
    expect(signals.get('finished')?.aborted).toBe(false)
    // The handler has been abandoned already.
    await scene.clock.step(1_000)
    stuck.resolve()
    scene.late.letGo('finish')
    await scene.quiet()
    expect(told).toEqual([])
  })

  test('is not abandoned, though an abort came while onExhausted was asked', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const decision = Promise.withResolvers<'drop'>()
    const told: unknown[] = []
    const worker = createWorker({
      queue,
      maxFailures: 1,
      abandonMs: 300,
      onExhausted: () => decision.promise,
      onError: (error) => told.push(error),
      handler: () => {
        throw new Error('no')
      },
    })
    await scene.quiet()
    scene.late.hold('finish')
    const stopping = worker.stop({ graceMs: 0 })
    await scene.clock.step(0)
    decision.resolve('drop')
    await scene.clock.step(300)
    scene.late.letGo('finish')
    await stopping
    expect(told).toMatchObject([{ message: 'no' }])
    expect(await scene.states()).toEqual({})
  })

  test('that fails for a while, and then for good, is reported once and given up', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const codes = ['ERR_STORE', 'ERR_STORE', 'ERR_INVALID_INPUT'] as const
    let made = 0
    scene.late.before = async ({ verb }) => {
      await nextTurn()
      const code = verb === 'finish' ? codes[made] : undefined
      if (code === undefined) return
      made += 1
      throw new SluiceError(code, 'refused')
    }
    const told: unknown[] = []
    const worker = createWorker({
      queue,
      onError: (error) => told.push(error),
      handler: () => undefined,
    })
    await scene.quiet()
    while (made < codes.length) await time.pass(50)
    await scene.quiet()
    expect(told).toMatchObject([{ code: 'ERR_STORE' }])
    expect([scene.late.count('finish'), worker.finishing]).toEqual([3, 0])
    expect((await scene.row('a'))?.state).toBe('processing')
    await worker.stop()
  })

  test('that fails for good is reported once', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.before = async ({ verb }) => {
      await nextTurn()
      if (verb === 'finish') throw new SluiceError('ERR_INVALID_INPUT', 'refused')
    }
    const told: unknown[] = []
    const worker = createWorker({
      queue,
      onError: (error) => told.push(error),
      handler: () => undefined,
    })
    await scene.clock.step(5_000)
    expect(told).toMatchObject([{ code: 'ERR_INVALID_INPUT' }])
    expect([scene.late.count('finish'), worker.finishing]).toEqual([1, 0])
    expect((await scene.row('a'))?.state).toBe('processing')
    scene.late.before = nextTurn
    await worker.stop()
  })
})

test('the key of a finish that is under way is renewed', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  await queue.add('a')
  scene.late.hold('finish')
  const worker = createWorker({ queue, handler: () => undefined })
  await scene.quiet()
  const before = await scene.row('a')
  await scene.clock.step(10_000)
  expect((await scene.row('a'))?.leaseUntil).toBe((before?.leaseUntil ?? 0) + 10_000)
  scene.late.letGo('finish')
  await worker.stop()
})

test('onExhausted holds the slot, and decides once', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ prefetch: 1 })
  await queue.addMany(['a', 'b'])
  const decision = Promise.withResolvers<'drop'>()
  const asked: string[] = []
  const worker = createWorker({
    queue,
    maxFailures: 1,
    onExhausted: ({ key }) => {
      asked.push(key)
      return decision.promise
    },
    onError: () => undefined,
    handler: () => {
      throw new Error('no')
    },
  })
  await scene.quiet()
  expect([asked, worker.running, worker.finishing]).toEqual([['a'], 1, 0])
  decision.resolve('drop')
  await scene.quiet()
  expect(asked).toEqual(['a', 'b'])
  expect(await scene.states()).toEqual({})
  await worker.stop()
})
