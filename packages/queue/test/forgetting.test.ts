import { exponential, maxOf } from '@sluice/limiters'
import { describe, expect, test } from 'vitest'
import {
  createRateLimitingQueue,
  createWorker,
  type Held,
  type Limiter,
  type RateLimitingQueue,
  TerminalError,
  type WorkerOptions,
} from '../src/index.ts'
import { direct, Scene, setups, take } from './setups.ts'

/** A limiter without a plan, which keeps an entry for each key until its forget is called. */
function counting() {
  const counts = new Map<string, number>()
  const forgot: string[] = []
  const limiter: Limiter<string> = {
    when: (item) => {
      counts.set(item, (counts.get(item) ?? 0) + 1)
      return 10
    },
    forget: (item) => {
      forgot.push(item)
      counts.delete(item)
    },
    numRequeues: (item) => counts.get(item) ?? 0,
  }
  return { limiter, counts, forgot }
}

type Queue = RateLimitingQueue<string>

/** Ends of a run that forget the failures of its key. */
const ends: Record<string, (queue: Queue, held: Held<string>) => Promise<unknown>> = {
  'held.done': (_queue, held) => held.done({ forget: true }),
  'queue.done of a Held': (queue, held) => queue.done(held, { forget: true }),
  'queue.done of an item': (queue, held) => queue.done(held.item, { forget: true }),
  'queue.doneMany': (queue, held) => queue.doneMany([held], { forget: true }),
  'queue.forget': (queue, held) => queue.forget(held.item),
}

describe.each(setups)('a limiter that counts in this process, over $way', (setup) => {
  test.each(Object.keys(ends))('is called with forget by %s', async (name) => {
    const scene = new Scene(setup)
    const { limiter, counts, forgot } = counting()
    const queue = scene.limited({ limiter })
    await queue.add('a')
    await (await take(queue)).retry()
    await scene.clock.step(10)
    const held = await take(queue)
    expect(counts.get('a')).toBe(1)
    await ends[name]?.(queue, held)
    expect([counts.size, forgot]).toEqual([0, ['a']])
    expect(await queue.numRequeues('a')).toBe(0)
  })

  test('is called with the item, also where that is no string', async () => {
    const scene = new Scene(setup)
    const forgot: unknown[] = []
    const limiter = {
      when: () => 1,
      numRequeues: () => 1,
      forget: (item: unknown) => forgot.push(item),
    }
    const queue = scene.limited<{ id: number }>({ limiter, keyOf: ({ id }) => `${id}` })
    await queue.add({ id: 7 })
    await (await take(queue)).done({ forget: true })
    expect(forgot).toEqual([{ id: 7 }])
  })

  test('is not called for a run that ends without forget, a lost key, or a parked one', async () => {
    const scene = new Scene(setup)
    const { limiter, forgot } = counting()
    const queue = scene.limited({ limiter })
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    await held.done()
    expect(await held.done({ forget: true })).toBe('lost')
    await (await take(queue)).park()
    expect(forgot).toEqual([])
  })

  test('is called within maxOf, together with the parts that have a plan', async () => {
    const scene = new Scene(setup)
    const { limiter: own, counts } = counting()
    const queue = scene.limited({ limiter: maxOf(own, exponential({ baseMs: 5, maxMs: 1_000 })) })
    await queue.addRateLimited('a')
    await queue.addRateLimited('a')
    await scene.clock.step(10)
    await (await take(queue)).done({ forget: true })
    expect([counts.size, await queue.numRequeues('a')]).toEqual([0, 0])
  })

  test('is called for a key that was taken through a layer below', async () => {
    const scene = new Scene(setup)
    const { limiter, forgot } = counting()
    const below = scene.queue()
    const queue = createRateLimitingQueue<string>({ queue: below, limiter })
    await queue.add('a')
    await (await take(below)).done({ forget: true })
    expect(forgot).toEqual(['a'])
  })

  test('harms no run if it throws', async () => {
    const scene = new Scene(setup)
    const forget = (): never => {
      throw new Error('cannot forget')
    }
    const queue = scene.limited({ limiter: { ...counting().limiter, forget } })
    await queue.addMany(['a', 'b'])
    expect(await (await take(queue)).done({ forget: true })).toBe('idle')
    expect(await queue.doneMany(await queue.getMany(1), { forget: true })).toEqual(['idle'])
    expect(scene.takeErrors()).toEqual(['Error: cannot forget', 'Error: cannot forget'])
  })
})

describe('a limiter around a queue that is not ours', () => {
  test.each(Object.keys(ends))('is called with forget by %s', async (name) => {
    const scene = new Scene(direct)
    const { limiter, counts, forgot } = counting()
    // Not an instance of a class of ours, so that its Helds are adapted.
    const inner = new Proxy(scene.queue(), {
      getPrototypeOf: () => Object.prototype,
      get: (target, verb) => {
        const value: unknown = Reflect.get(target, verb)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const queue = createRateLimitingQueue<string>({ queue: inner, clock: scene.clock, limiter })
    await queue.add('a')
    await (await take(queue)).retry()
    await scene.clock.step(10)
    await ends[name]?.(queue, await take(queue))
    expect([counts.size, forgot]).toEqual([0, ['a']])
  })
})

/** A handler for the run after the one that failed, and its options. */
const workers: Record<string, Omit<WorkerOptions<string>, 'queue'>> = {
  success: { handler: () => undefined },
  requeueAfterMs: { handler: () => ({ requeueAfterMs: 5_000 }) },
  TerminalError: {
    handler: () => {
      throw new TerminalError('given up')
    },
  },
  "onExhausted: 'drop'": {
    maxFailures: 2,
    onExhausted: 'drop',
    handler: () => {
      throw new Error('again')
    },
  },
}

describe.each(setups)('a worker over $way', (setup) => {
  test.each(Object.keys(workers))(
    'resets a limiter that counts in this process after %s',
    async (name) => {
      const scene = new Scene(setup)
      const { limiter, counts, forgot } = counting()
      const queue = scene.limited({ limiter })
      let runs = 0
      const { handler, ...options } = workers[name] as Omit<WorkerOptions<string>, 'queue'>
      const worker = createWorker<string>({
        queue,
        ...options,
        handler: (item, context) => {
          runs += 1
          if (runs === 1) throw new Error('once')
          return handler(item, context)
        },
      })
      await queue.add('a')
      await scene.clock.step(10)
      await scene.clock.step(10)
      expect([runs, counts.size, forgot]).toEqual([2, 0, ['a']])
      await worker.stop()
    },
  )
})
