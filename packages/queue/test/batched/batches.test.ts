import { systemClock } from '@sluice/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { keysOf } from '../support/keys-of.ts'
import { drainKeys, late, leased, Scene, seen, take } from '../support/setups.ts'

describe('5 Flushing', () => {
  test('one awaited add is one call', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    await queue.add('b')
    expect(scene.late.requests('add').map(keysOf)).toEqual([['a'], ['b']])
  })

  test('a thousand adds made together are at most 8 calls', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const keys = Array.from({ length: 1_000 }, (_, n) => `k${n}`)
    const adds = keys.map((key) => queue.add(key))
    expect(new Set(await Promise.all(adds))).toEqual(new Set(['added']))
    expect(scene.late.count('add')).toBeLessThanOrEqual(8)
    const helds = await queue.getMany(1_000)
    expect(helds.map(({ key }) => key)).toEqual(keys)
    await Promise.all(helds.map((held) => held.done()))
    expect(scene.late.count('finish')).toBeLessThanOrEqual(8)
  })

  test('a batch has no more keys, and hardly more bytes of items, than the driver asks for', async () => {
    const scene = new Scene(late)
    Object.assign(scene.late, { batchKeys: 40, batchBytes: 1_000 })
    const queue = scene.queue()
    await Promise.all(Array.from({ length: 100 }, (_, n) => queue.add(`k${n}`)))
    const sizes = scene.late.requests('add').map((request) => keysOf(request).length)
    expect(Math.max(...sizes)).toBe(40)
    const long = 'x'.repeat(400)
    await Promise.all(Array.from({ length: 20 }, (_, n) => queue.add({ n, long } as never)))
    const last = scene.late.requests('add').slice(sizes.length)
    expect(Math.max(...last.map((request) => keysOf(request).length))).toBe(3)
  })

  test('calls made while a batch is in flight travel together in the next one', async () => {
    const scene = new Scene(late)
    const queue = scene.delaying()
    scene.late.hold('add')
    const first = queue.add('a')
    await scene.quiet()
    const more = [queue.add('b'), queue.addAfter('c', 5), queue.add('d', { priority: 3 })]
    await scene.quiet()
    expect(scene.late.count('add')).toBe(1)
    scene.late.letGo('add')
    await Promise.all([first, ...more])
    expect(scene.late.requests('add').map(keysOf)).toEqual([['a'], ['b', 'c', 'd']])
  })

  const ways: Record<string, (add: () => Promise<unknown>) => Promise<unknown>> = {
    'by await': (add) => add(),
    'through a function': async (add) => await add(),
    'through two functions': async (add) => await (async () => add())(),
  }
  for (const [way, call] of Object.entries(ways)) {
    test(`the next calls of callers that are answered, made ${way}, travel with those that wait`, async () => {
      const scene = new Scene(late)
      const queue = scene.queue()
      const addAll = async (name: string): Promise<void> => {
        for (let n = 0; n < 20; n += 1) await call(() => queue.add(`${name}/${n}`))
      }
      scene.late.hold('add')
      const first = addAll('a')
      await scene.quiet()
      const second = addAll('b')
      await scene.quiet()
      scene.late.letGo('add')
      await Promise.all([first, second])
      const sizes = scene.late.requests('add').map((request) => keysOf(request).length)
      // Otherwise the two would take turns for good, each with half of the batches.
      expect(sizes).toEqual([1, ...Array<number>(19).fill(2), 1])
    })
  }

  test('keys whose priority is raised one by one are in two batches', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const keys = Array.from({ length: 500 }, (_, n) => `k${n}`)
    await Promise.all(keys.flatMap((key) => [queue.add(key), queue.add(key, { priority: 1 })]))
    expect(scene.late.requests('add').map((request) => keysOf(request).length)).toEqual([500, 500])
  })

  test('a promise resolves after its batch has committed, not before', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    scene.late.after = () => new Promise((resolve) => setImmediate(resolve))
    scene.late.hold('add')
    const adding = seen(queue.add('a'))
    await scene.quiet()
    expect([adding.state, await scene.states()]).toEqual(['waiting', {}])
    scene.late.letGo('add')
    await scene.quiet()
    expect([adding.state, await scene.states()]).toEqual(['resolved', { a: 'ready' }])
  })

  test('between many batches that are answered at once the event loop turns, and all keep their order', async () => {
    const scene = new Scene(leased)
    // real time: with a clock that is given, nothing waits for a turn.
    const queue = scene.queue({ clock: systemClock })
    const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}`)
    let [turns, isAdded] = [0, false]
    const adds: Promise<unknown>[] = []
    const turn = (): void => {
      turns += 1
      if (turns === 1) adds.push(queue.add('later'))
      if (!isAdded) setImmediate(turn)
    }
    setImmediate(turn)
    await queue.addMany(keys)
    isAdded = true
    expect(turns).toBeGreaterThan(1)
    await Promise.all(adds)
    const taken: string[] = []
    while (taken.length <= keys.length) {
      taken.push(...(await queue.getMany(1_000)).map(({ key }) => key))
    }
    expect(taken).toEqual([...keys, 'later'])
  })

  test('in a loop of awaited calls that are answered at once the event loop turns', async () => {
    const scene = new Scene(leased)
    // real time: with a clock that is given, nothing waits for a turn.
    const queue = scene.queue({ clock: systemClock })
    const turned = async (call: (n: number) => Promise<unknown>): Promise<boolean> => {
      let hasTurned = false
      setImmediate(() => {
        hasTurned = true
      })
      for (let n = 0; n < 1_000; n += 1) await call(n)
      return hasTurned
    }
    expect(await turned((n) => queue.add(`k${n}`))).toBe(true)
    expect(await turned(async () => (await queue.get())?.done())).toBe(true)
  })

  test('a batch has at most a thousand keys', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const keys = Array.from({ length: 2_001 }, (_, n) => `k${n}`)
    await Promise.all(keys.map((key) => queue.add(key)))
    expect(scene.late.requests('add').map((request) => keysOf(request).length)).toEqual([
      1_000, 1_000, 1,
    ])
    expect((await queue.getMany(1_000)).map(({ key }) => key)).toEqual(keys.slice(0, 1_000))
  })

  test('two operations on one key never share a batch, and take effect in their order', async () => {
    const verbs = ['add', 'cancel', 'addAfter', 'addHigh', 'addRateLimited', 'forget'] as const
    const call = fc.record({ verb: fc.constantFrom(...verbs), key: fc.constantFrom('a', 'b', 'c') })
    const program = fc.array(call, { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(program, async (calls) => {
        const together = new Scene(late)
        const alone = new Scene(late)
        const [one, other] = [together.limited(), alone.limited()]
        const make = (queue: typeof one, verb: (typeof verbs)[number], key: string) =>
          ({
            add: () => queue.add(key),
            addHigh: () => queue.add(key, { priority: 7 }),
            cancel: () => queue.cancel(key),
            addAfter: () => queue.addAfter(key, 50),
            addRateLimited: () => queue.addRateLimited(key),
            forget: () => queue.forget(key),
          })[verb]()
        const outcomes = Promise.all(calls.map(({ verb, key }) => make(one, verb, key)))
        const expected: unknown[] = []
        for (const { verb, key } of calls) expected.push(await make(other, verb, key))
        expect(await outcomes).toEqual(expected)
        expect(await together.states()).toEqual(await alone.states())
        expect(await drainKeys(one)).toEqual(await drainKeys(other))
        for (const { request, verb } of together.late.calls) {
          if (!['add', 'cancel', 'forget'].includes(verb)) continue
          expect(new Set(keysOf(request)).size).toBe(keysOf(request).length)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('adds, claims with finishes, and renewals do not wait for each other', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    scene.late.hold('add')
    const adding = seen(queue.add('c'))
    await scene.quiet()
    expect((await take(queue)).key).toBe('b')
    expect(await held.done()).toBe('idle')
    scene.late.hold('claim')
    const getting = seen(queue.get())
    await scene.clock.step(10_000)
    expect(scene.late.count('renew')).toBe(1)
    scene.late.letGo('add')
    await scene.quiet()
    expect([adding.value, getting.state]).toEqual(['added', 'waiting'])
    scene.late.letGo('claim')
    await scene.quiet()
    expect(getting.value?.key).toBe('c')
  })

  test('a claim takes no more keys than there are waiters', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    await Promise.all([queue.get(), queue.getMany(2), queue.get()])
    const limits = scene.late
      .requests('claim')
      .map((request) => (request as { limit: number }).limit)
    expect(limits).toEqual([4])
    expect(await queue.len()).toBe(4)
  })

  test('an idle queue makes at most one call per heartbeat', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    const before = scene.late.calls.length
    await scene.clock.step(60_000)
    expect(scene.late.calls.length - before).toBeLessThanOrEqual(6)
    controller.abort(new Error('enough'))
    await scene.quiet()
    expect(waiting.state).toBe('rejected')
    const after = scene.late.calls.length
    await scene.clock.step(60_000)
    expect(scene.late.calls.length).toBe(after)
  })

  test('a worker that waits makes no more calls, whenever its heartbeats come', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const worker = createWorker({ queue, handler: async () => {} })
    // The done sets the time of the next alarm; the heartbeats began before.
    await scene.clock.step(300)
    await queue.add('a')
    await scene.quiet()
    await scene.clock.step(20_000)
    const before = scene.late.calls.length
    await scene.clock.step(60_000)
    expect(scene.late.calls.length - before).toBeLessThanOrEqual(6)
    const stopping = worker.stop()
    await scene.quiet()
    await stopping
  })
})
