import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import {
  type AdaptOptions,
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
} from '../../src/index.ts'
import { adapted, adaptedLimited, foreign } from '../support/foreign-queue.ts'
import { refusal } from '../support/refusal.ts'
import { direct, drainKeys, Scene, take } from '../support/setups.ts'

describe('delays around a queue that is not ours', () => {
  test('2: live in this process, and capabilities say so', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    expect([queue.name, queue.capabilities.delays]).toEqual(['foreign', 'process'])
    expect(await queue.addAfter('a', 100)).toBe('added')
    expect(await scene.states()).toEqual({})
    await scene.clock.step(99)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('2: keep the process alive while a caller waits for a key, and no longer', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    for (const [key, ms] of Object.entries({ a: 100, b: 200 })) await queue.addAfter(key, ms)
    expect(scene.clock.refCount()).toBe(0)
    const waiting = queue.get()
    await scene.quiet()
    // The wait of the queue inside, and the delays.
    expect(scene.clock.refCount()).toBe(2)
    await scene.clock.step(100)
    await (await waiting)!.done()
    await scene.quiet()
    expect(scene.clock.refCount()).toBe(0)
  })

  test('2: keep it alive also if they are added while a caller waits, until they are over or cancelled', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    void queue.getMany(3)
    void queue.get()
    await scene.quiet()
    expect(scene.clock.refCount()).toBe(1)
    await queue.addAfter('a', 100)
    expect(scene.clock.refCount()).toBe(2)
    await queue.cancel('a')
    expect(scene.clock.refCount()).toBe(1)
    await queue.addAfter('b', 100)
    await scene.clock.step(100)
    await scene.quiet()
    expect(scene.clock.refCount()).toBe(1)
  })

  test('follow the rules of the original', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    expect(await queue.addAfter('now', 0)).toBe('added')
    expect(await queue.addAfter('a', 100)).toBe('added')
    expect(await queue.addAfter('a', 200)).toBe('unchanged')
    expect(await queue.addAfter('a', 50)).toBe('moved')
    expect(await queue.addAfter('a', 80)).toBe('unchanged')
    expect(await queue.add('a')).toBe('added')
    expect(await drainKeys(queue)).toEqual(['now', 'a'])
    await scene.clock.step(50)
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(200)
    expect(await queue.len()).toBe(0)
  })

  test('2: when: latest moves later, bounded by maxWaitMs', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    const options = { when: 'latest', maxWaitMs: 150 } as const
    await queue.addAfter('a', 100, options)
    await scene.clock.step(90)
    expect(await queue.addAfter('a', 100, options)).toBe('moved')
    expect(await queue.addAfter('a', 1, options)).toBe('unchanged')
    await scene.clock.step(59)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await queue.len()).toBe(1)
  })

  test('Items: the item is the one added last, as it was then', async () => {
    const scene = new Scene(direct)
    const inner = scene.queue<{ n: number }>({ keyOf: () => 'k' })
    const queue = createDelayingQueue<{ n: number }>({
      queue: foreign(inner as never) as never,
      clock: scene.clock,
      keyOf: () => 'k',
    })
    await queue.addAfter({ n: 1 }, 50)
    const item = { n: 2 }
    expect(await queue.addAfter(item, 70)).toBe('unchanged')
    item.n = 3
    await scene.clock.step(50)
    expect((await take(queue)).item).toEqual({ n: 2 })
  })

  test('Time: a step of the wall clock neither postpones nor hastens a delay', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    await queue.addAfter('a', 50)
    scene.clock.setTime(scene.clock.now() - 10_000)
    expect(await queue.addAfter('a', 100)).toBe('unchanged')
    await scene.clock.step(49)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await queue.len()).toBe(1)
  })

  test('Order: priorities are kept, the higher one wins', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    await queue.addAfter('a', 10)
    expect(await queue.addAfter('a', 20, { priority: 5 })).toBe('moved')
    expect(await queue.addAfter('a', 20, { priority: 1 })).toBe('unchanged')
    await scene.clock.step(10)
    expect((await take(queue)).priority).toBe(5)
  })

  test('a shutdown drops delayed adds, and refuses more', async () => {
    for (const end of ['shutDown', 'shutDownWithDrain', 'close'] as const) {
      const scene = new Scene(direct)
      const queue = adapted(scene)
      await queue.addAfter('a', 10)
      await queue[end]()
      await scene.clock.step(100)
      expect(await scene.states()).toEqual({})
      expect(await refusal(queue.addAfter('b', 10))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
      expect(scene.clock.waiters()).toBe(0)
    }
  })

  test('so does a shutdown of the queue underneath', async () => {
    const scene = new Scene(direct)
    const inner = scene.queue()
    const queue = createDelayingQueue({ queue: foreign(inner), clock: scene.clock })
    await queue.addAfter('a', 10)
    await inner.shutDown()
    await scene.clock.step(10)
    expect(await scene.states()).toEqual({})
  })

  test('cancel takes back delayed adds here and pending runs there', async () => {
    const scene = new Scene(direct)
    const queue = adapted(scene)
    await queue.addAfter('here', 10)
    await queue.add('there')
    expect(await queue.cancel('here')).toBe('cancelled')
    expect(await queue.cancel('there')).toBe('cancelled')
    expect(await queue.cancel('there')).toBe('unchanged')
    expect(await queue.addAfter('here', 15)).toBe('added')
    await scene.clock.step(14)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await queue.len()).toBe(1)
  })

  test('an add that fails when its time has come is reported', async () => {
    const scene = new Scene(direct)
    const inner = foreign(scene.queue({ maxPending: 1 }))
    const queue = createDelayingQueue({
      queue: inner,
      clock: scene.clock,
      onError: (error) => scene.errors.push(error),
    })
    await queue.addAfter('a', 10)
    await queue.add('b')
    await scene.clock.step(10)
    expect(scene.takeErrors()).toEqual(['ERR_QUEUE_FULL'])
  })

  test('bad input: rejects with a typed error, and changes nothing', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene)
    const calls: [() => Promise<unknown>, string][] = [
      [() => queue.addAfter('a', Number.NaN), 'ms'],
      [() => queue.addAfter('', 5), 'item'],
      [() => queue.addAfter('a', 5, { priority: 0.5 }), 'priority'],
      [() => queue.addAfter('a', 5, { when: 'x' } as never), 'when'],
      [() => queue.addRateLimited(undefined as never), 'item'],
      [() => queue.addRateLimited('a', { prio: 1 } as never), 'prio'],
      [() => queue.cancel(undefined as never), 'item'],
      [() => queue.forget(undefined as never), 'item'],
      [() => queue.numRequeues(undefined as never), 'item'],
    ]
    for (const [call, parameter] of calls) {
      expect(await refusal(call())).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter })
    }
    expect(scene.clock.waiters()).toBe(0)
    expect(await queue.numRequeues('a')).toBe(0)
  })

  test('an option of a queue of our own is absent if it is undefined', async () => {
    const queue = createQueue({})
    const wrapped = createDelayingQueue({ queue, leaseMs: undefined, driver: undefined })
    expect(await wrapped.len()).toBe(0)
    const made = createDelayingQueue({ queue: undefined, limiter: undefined })
    expect(await made.len()).toBe(0)
  })

  test('options that a layer around a queue of our own would ignore are refused', () => {
    const clock = fakeClock()
    const queue = createQueue({ name: 'q', clock })
    const ignored: AdaptOptions<string>[] = [
      { name: 'other' },
      { clock: fakeClock() },
      { keyOf: (item) => item },
      { onError() {} },
      { ref: false },
    ]
    for (const make of [createDelayingQueue<string>, createRateLimitingQueue<string>]) {
      for (const options of ignored) {
        const [parameter] = Object.keys(options)
        const refused = expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter })
        expect(() => make({ queue, ...options })).toThrow(refused)
      }
      expect(make({ queue, name: 'q', clock, ref: true }).name).toBe('q')
    }
  })

  test('factories throw for objects that are no queue, and for bad options', () => {
    const queue = foreign(createQueue({}))
    const bad: [unknown, string][] = [
      [{ queue: null }, 'queue'],
      [{ queue: 5 }, 'queue'],
      [{ queue: {} }, 'queue.add'],
      [{ queue: { ...queue, get: 5 } }, 'queue.get'],
      [{ queue, name: 5 }, 'name'],
      [{ queue, nam: 'q' }, 'nam'],
      [{ queue, clock: {} }, 'clock.now'],
      [{ queue, keyOf: 'id' }, 'keyOf'],
      [{ queue, onError: true }, 'onError'],
      [{ queue, ref: 'no' }, 'ref'],
    ]
    for (const [options, parameter] of bad) {
      for (const make of [createDelayingQueue, createRateLimitingQueue]) {
        expect(() => make(options as never)).toThrow(expect.objectContaining({ parameter }))
      }
    }
  })
})
