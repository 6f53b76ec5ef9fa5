import { exponential } from '@sluice/limiters'
import { describe, expect, test } from 'vitest'
import { createRateLimitingQueue, type ForeignQueue, type Held } from '../../src/index.ts'
import { adapted, adaptedLimited, foreign } from '../support/foreign-queue.ts'
import { refusal } from '../support/refusal.ts'
import { direct, drainKeys, Scene, seen, take } from '../support/setups.ts'

/** A queue of another library that has its delays in the store. */
function foreignDelaying(scene: Scene): ForeignQueue<string> {
  const inner = scene.delaying()
  const addAfter: typeof inner.addAfter = (item, ms, options) => inner.addAfter(item, ms, options)
  return Object.assign(foreign(inner), { addAfter })
}

describe('a limiter around a queue that is not ours', () => {
  test('counts in this process', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene, exponential({ baseMs: 10, maxMs: 1_000 }))
    await queue.addRateLimited('a')
    expect(await queue.addRateLimited('a')).toBe('unchanged')
    expect(await queue.numRequeues('a')).toBe(2)
    await scene.clock.step(10)
    expect(await drainKeys(queue)).toEqual(['a'])
    expect(await queue.forget('a')).toBe('forgotten')
    expect(await queue.forget('a')).toBe('unchanged')
    expect(await queue.numRequeues('a')).toBe(0)
  })

  test('counts by key, whatever else of an item changes', async () => {
    const scene = new Scene(direct)
    const keyOf = (item: string) => item.slice(0, 1)
    const queue = createRateLimitingQueue<string>({
      ...{ queue: foreign(scene.queue({ keyOf })), clock: scene.clock, keyOf },
      limiter: exponential({ baseMs: 10, maxMs: 1_000 }),
    })
    await queue.add('a, first version')
    await (await take(queue)).retry(new Error('no'))
    expect(await queue.numRequeues('a, second version')).toBe(1)
    await queue.addRateLimited('a, second version')
    await scene.clock.step(20)
    const held = await take(queue)
    expect([held.item, held.failures]).toEqual(['a, second version', 2])
    expect(await held.done({ forget: true })).toBe('idle')
    expect(await queue.numRequeues('a, first version')).toBe(0)
  })

  test('adds by the addAfter of the queue within, if it has one', async () => {
    const scene = new Scene(direct)
    const delaying = adapted(scene)
    // Without the clock: the delays are those of the delaying queue.
    const queue = createRateLimitingQueue<string>({
      queue: delaying,
      limiter: exponential({ baseMs: 10, maxMs: 1_000 }),
    })
    expect(await queue.addRateLimited('a')).toBe('added')
    expect(await queue.addAfter('a', 5)).toBe('moved')
    expect(await queue.addAfter('b', 5)).toBe('added')
    expect(await delaying.cancel('b')).toBe('cancelled')
    await scene.clock.step(5)
    const held = await take(queue)
    expect([held.key, held.failures]).toEqual(['a', 1])
    expect(await held.retry()).toBe('delayed')
    await scene.clock.step(20)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('has its delays where the queue within has them', async () => {
    const scene = new Scene(direct)
    const queue = createRateLimitingQueue<string>({ queue: foreignDelaying(scene) })
    expect(queue.capabilities.delays).toBe('store')
    expect(await queue.addRateLimited('a')).toBe('added')
    expect(await scene.states()).toEqual({ a: 'delayed' })
    expect(adaptedLimited(scene).capabilities.delays).toBe('process')
  })

  test('leaves it to the queue within whether it takes a retry after a shutdown', async () => {
    const scene = new Scene(direct)
    const queue = createRateLimitingQueue<string>({ queue: foreignDelaying(scene) })
    await queue.add('a')
    const held = await take(queue)
    await queue.shutDown()
    expect(await held.retry()).toBe('delayed')
    expect(await scene.states()).toEqual({ a: 'delayed' })
    expect(await refusal(queue.addRateLimited('b'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
  })

  test('close: a retry after it is lost, also where the delays are those of the queue within', async () => {
    const scene = new Scene(direct)
    const queue = createRateLimitingQueue<string>({ queue: foreignDelaying(scene) })
    await queue.add('a')
    const held = await take(queue)
    await queue.close()
    expect(await held.retry()).toBe('lost')
    scene.takeErrors()
  })

  test('Held: retry asks again after the limiter’s delay, once, and gives back', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene)
    await queue.add('a')
    const held = await take(queue)
    expect(await Promise.all([held.retry(), held.retry()])).toEqual(['delayed', 'lost'])
    expect(await queue.numRequeues('a')).toBe(1)
    await scene.clock.step(5)
    const again = await take(queue)
    expect([held.failures, again.failures]).toEqual([0, 1])
    expect(await queue.done(again, { forget: true })).toBe('idle')
    expect(await again.retry()).toBe('lost')
    expect(await queue.numRequeues('a')).toBe(0)
  })

  test('Held: retry with an error asks again after the delay that the error carries', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene)
    await queue.add('a')
    const busy = Object.assign(new Error('busy'), { retryAfterMs: 30_000 })
    expect(await (await take(queue)).retry(busy)).toBe('delayed')
    expect(await queue.numRequeues('a')).toBe(1)
    await scene.clock.step(29_999)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('Held: a retry that cannot be added gives nothing back, and may be made again', async () => {
    for (const error of [new Error('no'), Object.assign(new Error('busy'), { retryAfterMs: 50 })]) {
      const scene = new Scene(direct)
      const inner = scene.delaying()
      let isAway = true
      const addAfter: typeof inner.addAfter = async (item, ms, options) => {
        if (isAway) throw new Error('the store is away')
        return await inner.addAfter(item, ms, options)
      }
      const within = Object.assign(foreign(inner), { addAfter })
      const queue = createRateLimitingQueue<string>({ queue: within })
      await queue.add('a')
      const held = await take(queue)
      expect(await refusal(held.retry(error))).toMatchObject({ message: 'the store is away' })
      expect(await scene.states()).toEqual({ a: 'processing' })
      isAway = false
      expect(await held.retry(error)).toBe('delayed')
      expect(await scene.states()).toEqual({ a: 'delayed' })
    }
  })

  test('Held: disposal is a retry, in loops and batches too', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene)
    await queue.addMany(['a', 'b', 'c'])
    {
      await using held = await take(queue)
      expect(held.item).toBe('a')
    }
    const [b] = await queue.getMany(1)
    await b?.[Symbol.asyncDispose]()
    for await (const held of queue) {
      expect(held.key).toBe('c')
      await held.done()
      break
    }
    expect(await Promise.all(['a', 'b', 'c'].map((key) => queue.numRequeues(key)))).toEqual([
      1, 1, 0,
    ])
  })

  test('leaving a loop releases the last one', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene)
    await queue.addMany(['a', 'b'])
    // Over the iterator itself, as of any queue.
    for await (const held of queue[Symbol.asyncIterator]()) if (held.key === 'b') break
    expect(await scene.states()).toEqual({ a: 'processing', b: 'ready' })
  })

  test('Shutdown: work is given back after a shutdown, so that a drain ends', async () => {
    const scene = new Scene(direct)
    const queue = adaptedLimited(scene)
    await queue.addMany(['a', 'b'])
    const helds: Held<string>[] = await queue.getMany(2)
    const drained = seen(queue.shutDownWithDrain())
    expect(await refusal(queue.addRateLimited('a'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(await helds[0]?.retry()).toBe('idle')
    expect(await queue.doneMany(helds.slice(1))).toEqual(['idle'])
    await scene.quiet()
    expect(drained.state).toBe('resolved')
    expect(await queue.get()).toBe(undefined)
  })
})
