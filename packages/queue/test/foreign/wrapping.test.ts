import { exponential } from '@sluice/limiters'
import { describe, expect, test } from 'vitest'
import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  type DelayingQueue,
  type ForeignQueue,
  type Held,
  type Limiter,
  type Queue,
  type RateLimitingQueue,
} from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { direct, drainKeys, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('a layer around one of ours over $way', (setup) => {
  test('CFG-02: shares the core: a key that one adds the other hands out', async () => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const delaying = createDelayingQueue({ queue: below })
    const limited = createRateLimitingQueue({ queue: delaying })
    expect(delaying.capabilities.delays).toBe('store')
    await below.add('a')
    await delaying.addAfter('b', 10)
    await limited.addRateLimited('c')
    expect((await take(limited)).key).toBe('a')
    await scene.clock.step(10)
    expect(await drainKeys(below)).toEqual(['c', 'b'])
    expect(await limited.numRequeues('c')).toBe(1)
  })

  test('CFG-02: a shutdown and a close are of all layers', async () => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const above = createRateLimitingQueue({ queue: below })
    await above.add('a')
    const held = await take(above)
    await below.shutDown()
    expect(above.shuttingDown).toBe(true)
    expect(await refusal(above.add('b'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(await below.done(held)).toBe('idle')
    await above.close()
    expect(await refusal(below.len())).toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('2 Held: the layer that handed it out decides what disposal means', async () => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const above = createRateLimitingQueue({ queue: below })
    await below.addMany(['a', 'b'])
    {
      await using a = await take(below)
      await using b = await take(above)
      expect([a.key, b.key]).toEqual(['a', 'b'])
    }
    expect(await scene.states()).toEqual({ a: 'ready', b: 'backoff' })
  })

  test('the limiter is the one given, else that of the queue below', async () => {
    const scene = new Scene(setup)
    const own = exponential({ baseMs: 100, maxMs: 1_000 })
    const below = scene.queue({ limiter: own })
    await createRateLimitingQueue({ queue: below }).addRateLimited('own')
    expect((await scene.row('own'))?.dueAt).toBe(scene.clock.now() + 100)
    const limiter = exponential({ baseMs: 300, maxMs: 3_000 })
    await createRateLimitingQueue({ queue: below, limiter }).addRateLimited('given')
    expect((await scene.row('given'))?.dueAt).toBe(scene.clock.now() + 300)
  })
})

/** A queue that looks like one of another library. */
function foreign(queue: Queue<string>): Queue<string> {
  return {
    name: 'foreign',
    capabilities: queue.capabilities,
    inspect: queue.inspect,
    get shuttingDown() {
      return queue.shuttingDown
    },
    add: (item, options) => queue.add(item, options),
    addMany: (items, options) => queue.addMany(items, options),
    addSoon: (item, options) => queue.addSoon(item, options),
    get: (options) => queue.get(options),
    getMany: (n, options) => queue.getMany(n, options),
    done: (held, options) => queue.done(held, options),
    doneMany: (helds, options) => queue.doneMany(helds, options),
    cancel: (item) => queue.cancel(item),
    wake: () => queue.wake(),
    len: () => queue.len(),
    within: (transaction) => queue.within(transaction),
    shutDown: () => queue.shutDown(),
    shutDownWithDrain: (options) => queue.shutDownWithDrain(options),
    close: (options) => queue.close(options),
    [Symbol.asyncDispose]: () => queue.close(),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
  }
}

/** The same with delays in the store. */
function foreignDelaying(scene: Scene): ForeignQueue<string> {
  const inner = scene.delaying()
  const addAfter: typeof inner.addAfter = (item, ms, options) => inner.addAfter(item, ms, options)
  return Object.assign(foreign(inner), { addAfter })
}

const scenes = setups.slice(0, 1)

/** A delaying queue around one that is not ours. */
function adapted(scene: Scene): DelayingQueue<string> {
  const { clock } = scene
  const onError = (error: unknown): unknown => scene.errors.push(error)
  return createDelayingQueue({ queue: foreign(scene.queue()), clock, onError })
}

function adaptedLimited(scene: Scene, limiter?: Limiter<string>): RateLimitingQueue<string> {
  const { clock } = scene
  const onError = (error: unknown): unknown => scene.errors.push(error)
  const queue = foreign(scene.queue())
  return createRateLimitingQueue({ queue, clock, onError, ...(limiter && { limiter }) })
}

describe.each(scenes)('delays around a queue that is not ours', (setup) => {
  test('2: live in this process, and capabilities say so', async () => {
    const scene = new Scene(setup)
    const queue = adapted(scene)
    expect([queue.name, queue.capabilities.delays]).toEqual(['foreign', 'process'])
    expect(await queue.addAfter('a', 100)).toBe('added')
    expect(await scene.states()).toEqual({})
    await scene.clock.step(99)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('D-03, D-11, D-14: follow the rules of the original', async () => {
    const scene = new Scene(setup)
    const queue = adapted(scene)
    expect(await queue.addAfter('now', 0)).toBe('added')
    expect(await queue.addAfter('a', 100)).toBe('added')
    expect(await queue.addAfter('a', 200)).toBe('unchanged')
    expect(await queue.addAfter('a', 50)).toBe('moved')
    expect(await queue.add('a')).toBe('added')
    expect(await drainKeys(queue)).toEqual(['now', 'a'])
    await scene.clock.step(50)
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(200)
    expect(await queue.len()).toBe(0)
  })

  test('2: when: latest moves later, bounded by maxWaitMs', async () => {
    const scene = new Scene(setup)
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

  test('2 Items: the item is the one added last, as it was then', async () => {
    const scene = new Scene(setup)
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

  test('3 Time: a step of the wall clock neither postpones nor hastens a delay', async () => {
    const scene = new Scene(setup)
    const queue = adapted(scene)
    await queue.addAfter('a', 50)
    scene.clock.setTime(scene.clock.now() - 10_000)
    expect(await queue.addAfter('a', 100)).toBe('unchanged')
    await scene.clock.step(49)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await queue.len()).toBe(1)
  })

  test('3 Order: priorities are kept, the higher one wins', async () => {
    const scene = new Scene(setup)
    const queue = adapted(scene)
    await queue.addAfter('a', 10)
    expect(await queue.addAfter('a', 20, { priority: 5 })).toBe('moved')
    await scene.clock.step(10)
    expect((await take(queue)).priority).toBe(5)
  })

  test('D-19, D-20: a shutdown drops delayed adds, and refuses more', async () => {
    for (const end of ['shutDown', 'shutDownWithDrain', 'close'] as const) {
      const scene = new Scene(setup)
      const queue = adapted(scene)
      await queue.addAfter('a', 10)
      await queue[end]()
      await scene.clock.step(100)
      expect(await scene.states()).toEqual({})
      expect(await refusal(queue.addAfter('b', 10))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
      expect(scene.clock.waiters()).toBe(0)
    }
  })

  test('D-06: so does a shutdown of the queue underneath', async () => {
    const scene = new Scene(setup)
    const inner = scene.queue()
    const queue = createDelayingQueue({ queue: foreign(inner), clock: scene.clock })
    await queue.addAfter('a', 10)
    await inner.shutDown()
    await scene.clock.step(10)
    expect(await scene.states()).toEqual({})
  })

  test('cancel takes back delayed adds here and pending runs there', async () => {
    const scene = new Scene(setup)
    const queue = adapted(scene)
    await queue.addAfter('here', 10)
    await queue.add('there')
    expect(await queue.cancel('here')).toBe('cancelled')
    expect(await queue.cancel('there')).toBe('cancelled')
    expect(await queue.cancel('there')).toBe('unchanged')
    await scene.clock.step(10)
    expect(await queue.len()).toBe(0)
  })

  test('an add that fails when its time has come is reported', async () => {
    const scene = new Scene(setup)
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
    const scene = new Scene(setup)
    const queue = adaptedLimited(scene)
    const calls: [() => Promise<unknown>, string][] = [
      [() => queue.addAfter('a', Number.NaN), 'ms'],
      [() => queue.addAfter('', 5), 'item'],
      [() => queue.addAfter('a', 5, { priority: 0.5 }), 'options.priority'],
      [() => queue.addAfter('a', 5, { when: 'x' } as never), 'options.when'],
      [() => queue.addRateLimited(undefined as never), 'item'],
      [() => queue.addRateLimited('a', { prio: 1 } as never), 'options.prio'],
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

  test('factories throw for objects that are no queue, and for bad options', () => {
    const queue = foreign(createQueue({}))
    const bad: [unknown, string][] = [
      [{ queue: null }, 'queue'],
      [{ queue: 5 }, 'queue'],
      [{ queue: {} }, 'queue.add'],
      [{ queue: { ...queue, get: 5 } }, 'queue.get'],
      [{ queue, name: 5 }, 'name'],
      [{ queue, nam: 'q' }, 'options.nam'],
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

describe('a queue with no more than the methods of client-go’s interface', () => {
  function bare(scene: Scene) {
    const queue = scene.queue()
    const { add, get, done, len, shutDown, shutDownWithDrain } = foreign(queue)
    const inner: ForeignQueue<string> = {
      ...{ add, get, done, len, shutDown, shutDownWithDrain },
      get shuttingDown() {
        return queue.shuttingDown
      },
    }
    const { clock } = scene
    return createRateLimitingQueue<string>({ queue: inner, clock, name: 'bare' })
  }

  test('is wrapped, and has every verb of a queue', async () => {
    const scene = new Scene(direct)
    const queue = bare(scene)
    expect([queue.name, queue.capabilities.delays]).toEqual(['bare', 'process'])
    expect(await queue.addMany(['a', 'b', 'a'])).toEqual(['added', 'added', 'unchanged'])
    queue.addSoon('c')
    await scene.quiet()
    const [a] = await queue.getMany(5)
    expect(await queue.doneMany(a === undefined ? [] : [a])).toEqual(['idle'])
    for await (const held of queue) if (held.key === 'b') break
    expect(await scene.states()).toEqual({ b: 'ready', c: 'ready' })
    expect(await queue.cancel('b')).toBe('unchanged')
    expect(() => queue.within({})).toThrow(expect.objectContaining({ parameter: 'queue.within' }))
    expect(() => queue.inspect).toThrow(expect.objectContaining({ parameter: 'queue.inspect' }))
    await queue.close()
    expect(await refusal(queue.add('d'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
  })

  test('2 Held: leaving a loop does not release what was detached', async () => {
    const scene = new Scene(direct)
    const queue = bare(scene)
    await queue.add('a')
    let detached: Held<string> | undefined
    for await (const held of queue) {
      detached = held.detach()
      break
    }
    expect(await scene.states()).toEqual({ a: 'processing' })
    expect(await detached?.done()).toBe('idle')
  })

  test.each([
    ['addMany', (queue: RateLimitingQueue<string>) => queue.addMany(5 as never)],
    ['doneMany', (queue: RateLimitingQueue<string>) => queue.doneMany(5 as never)],
  ])('%s of no array is refused', async (_verb, call) => {
    expect(await refusal(call(bare(new Scene(direct))))).toMatchObject({
      code: 'ERR_INVALID_INPUT',
    })
  })
})

describe('doneMany around a queue that has none', () => {
  test.each([
    ['delays', (queue: ForeignQueue<string>) => createDelayingQueue({ queue })],
    ['a limiter', (queue: ForeignQueue<string>) => createRateLimitingQueue({ queue })],
  ])('rejects once all keys are answered, with %s around it', async (_, wrap) => {
    const scene = new Scene(direct)
    const answers = Promise.withResolvers<'idle'>()
    const fails = { key: 'a', item: 'a', done: () => Promise.reject(new Error('a stays')) }
    const waits = { key: 'b', item: 'b', done: () => answers.promise }
    const helds = [fails, waits] as unknown as Held<string>[]
    const queue = wrap({
      ...foreign(scene.queue()),
      doneMany: undefined as never,
      get: () => Promise.resolve(helds.shift()),
      done: (held) => (held as Held<string>).done(),
    })
    const finishing = seen(queue.doneMany([await take(queue), await take(queue)]))
    await scene.quiet()
    expect(finishing.state).toBe('waiting')
    answers.resolve('idle')
    await scene.quiet()
    expect(String(finishing.error)).toContain('a stays')
  })
})

describe.each(scenes)('a limiter around a queue that is not ours', (setup) => {
  test('RL-01, RL-02, RL-03: counts in this process', async () => {
    const scene = new Scene(setup)
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

  test('adds by the addAfter of the queue within, if it has one', async () => {
    const scene = new Scene(setup)
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
    const scene = new Scene(setup)
    const queue = createRateLimitingQueue<string>({ queue: foreignDelaying(scene) })
    expect(queue.capabilities.delays).toBe('store')
    expect(await queue.addRateLimited('a')).toBe('added')
    expect(await scene.states()).toEqual({ a: 'delayed' })
    expect(adaptedLimited(scene).capabilities.delays).toBe('process')
  })

  test('leaves it to the queue within whether it takes a retry after a shutdown', async () => {
    const scene = new Scene(setup)
    const queue = createRateLimitingQueue<string>({ queue: foreignDelaying(scene) })
    await queue.add('a')
    const held = await take(queue)
    await queue.shutDown()
    expect(await held.retry()).toBe('delayed')
    expect(await scene.states()).toEqual({ a: 'delayed' })
    expect(await refusal(queue.addRateLimited('b'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
  })

  test('3 close: a retry after it is lost, also where the delays are those of the queue within', async () => {
    const scene = new Scene(setup)
    const queue = createRateLimitingQueue<string>({ queue: foreignDelaying(scene) })
    await queue.add('a')
    const held = await take(queue)
    await queue.close()
    expect(await held.retry()).toBe('lost')
    scene.takeErrors()
  })

  test('2 Held: retry asks again after the limiter’s delay, once, and gives back', async () => {
    const scene = new Scene(setup)
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

  test('2 Held: disposal is a retry, in loops and batches too', async () => {
    const scene = new Scene(setup)
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
    const scene = new Scene(setup)
    const queue = adaptedLimited(scene)
    await queue.addMany(['a', 'b'])
    for await (const held of queue) if (held.key === 'b') break
    expect(await scene.states()).toEqual({ a: 'processing', b: 'ready' })
  })

  test('3 Shutdown: work is given back after a shutdown, so that a drain ends', async () => {
    const scene = new Scene(setup)
    const queue = adaptedLimited(scene)
    await queue.addMany(['a', 'b'])
    const helds: Held<string>[] = await queue.getMany(2)
    const drained = seen(queue.shutDownWithDrain())
    expect(await helds[0]?.retry()).toBe('idle')
    expect(await queue.doneMany(helds.slice(1))).toEqual(['idle'])
    await scene.quiet()
    expect(drained.state).toBe('resolved')
    expect(await queue.get()).toBe(undefined)
  })
})
