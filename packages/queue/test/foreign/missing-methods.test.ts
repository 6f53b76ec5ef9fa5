import { describe, expect, test } from 'vitest'
import {
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
  type ForeignQueue,
  type Held,
  type Queue,
  type RateLimitingQueue,
} from '../../src/index.ts'
import { exportQueue, importQueue } from '../../src/transfer/index.ts'
import { foreign } from '../support/foreign-queue.ts'
import { refusal } from '../support/refusal.ts'
import { direct, Scene, seen, take } from '../support/setups.ts'

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

  test('is refused at the first item where get gives items, as in client-go', async () => {
    const inner = { ...foreign(new Scene(direct).queue()), get: async () => 'a' }
    const { getMany: _, [Symbol.asyncIterator]: __, ...client } = inner
    const queue = createRateLimitingQueue<string>({
      queue: client as unknown as ForeignQueue<string>,
    })
    const takes = [
      () => queue.get(),
      () => queue.getMany(1),
      () => queue[Symbol.asyncIterator]().next(),
    ]
    for (const taken of takes) {
      const error = await refusal(taken())
      expect(error).toMatchObject({ code: 'ERR_INVALID_INPUT', parameter: 'queue.get()' })
      expect(String(error)).toContain('must give a Held, which has item and done')
    }
  })

  test('Held: release and park are refused where the Held has none, and it can still be finished', async () => {
    const scene = new Scene(direct)
    const inner = scene.queue()
    const get = async () => {
      const held = await take(inner)
      return { item: held.item, key: held.key, done: () => held.done() } as Held<string>
    }
    const { getMany: _, [Symbol.asyncIterator]: __, ...client } = foreign(inner)
    const queue = createRateLimitingQueue<string>({ queue: { ...client, get } })
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    for (const verb of ['release', 'park'] as const) {
      const expected = { code: 'ERR_INVALID_INPUT', parameter: `held.${verb}` }
      expect(await refusal(held[verb]())).toMatchObject(expected)
    }
    expect(await held.done()).toBe('idle')
    const iterator = queue[Symbol.asyncIterator]()
    await iterator.next()
    expect(await refusal(Promise.resolve(iterator.return?.()))).toMatchObject({
      parameter: 'held.release',
    })
  })

  test('has no worker, which says what to do instead, and what it got', () => {
    const handler = () => undefined
    const must =
      'queue must be a queue of this copy of sluice, with a driver; take the keys of any other in a loop'
    const others: [queue: unknown, got: string][] = [
      [bare(new Scene(direct)), 'an AdaptedRateLimitingQueue'],
      [undefined, 'undefined'],
    ]
    for (const [queue, got] of others) {
      expect(() => createWorker({ queue: queue as Queue<string>, handler })).toThrow(
        `${must}; got ${got}`,
      )
    }
  })

  test('is neither exported nor imported', async () => {
    const queue = bare(new Scene(direct))
    const refused = 'queue must be a queue of this copy of sluice; got an AdaptedRateLimitingQueue'
    await expect(exportQueue(queue).next()).rejects.toThrow(refused)
    await expect(importQueue(queue, [])).rejects.toThrow(refused)
  })

  test('Held: leaving a loop does not release what was detached', async () => {
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

  test('Held: leaving a loop waits for a retry that is under way, and does not release its key', async () => {
    const scene = new Scene(direct)
    const queue = bare(scene)
    await queue.add('a')
    let retrying: Promise<string> | undefined
    for await (const held of queue) {
      retrying = held.retry(new Error('no'))
      break
    }
    expect(await retrying).toBe('delayed')
    expect(await scene.states()).toEqual({})
  })

  test('Held: leaving a loop releases a key whose retry has failed', async () => {
    const scene = new Scene(direct)
    const queue = bare(scene)
    await queue.add('a')
    let retrying: Promise<unknown> | undefined
    for await (const held of queue) {
      const { item } = held
      queue.addRateLimited = () => Promise.reject(new Error(`cannot add ${item}`))
      retrying = refusal(held.retry(new Error('no')))
      break
    }
    expect(String(await retrying)).toContain('cannot add a')
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test.each([
    ['addMany', (queue: RateLimitingQueue<string>) => queue.addMany(5 as never)],
    ['doneMany', (queue: RateLimitingQueue<string>) => queue.doneMany(5 as never)],
    ['getMany', (queue: RateLimitingQueue<string>) => queue.getMany(0)],
  ])('%s of bad input is refused', async (_verb, call) => {
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
