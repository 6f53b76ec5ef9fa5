import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Held, type Queue, SluiceError } from '../../src/index.ts'
import { drainKeys, holding, Scene, type SceneOptions, setups, take } from '../support/setups.ts'

describe.each(setups)('a Held over $way', (setup) => {
  test('Held: has the properties of its key', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addRateLimited('a', { priority: 4 })
    const askedAt = scene.clock.now()
    await scene.clock.step(7)
    const held = await take(queue)
    expect(held).toMatchObject({ key: 'a', item: 'a', failures: 1, crashes: 0, priority: 4 })
    expect(held.addedAt).toBe(askedAt)
    expect(held.signal.aborted).toBe(false)
    expect(held.signal).toBe(held.signal)
  })

  test('Held: in a log it is its key, without the queue behind it', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<{ id: number }>({ keyOf: ({ id }) => `order/${id}` })
    await queue.add({ id: 42 })
    const held = await take(queue)
    const shown = {
      key: 'order/42',
      item: { id: 42 },
      token: held.token,
      failures: 0,
      crashes: 0,
      priority: 0,
      addedAt: held.addedAt,
    }
    expect(JSON.parse(JSON.stringify({ held }))).toEqual({ held: shown })
    expect(inspect(held)).toBe(inspect(shown))
  })

  test('tokens rise, per key and in the whole store', async () => {
    const scene = new Scene(setup)
    const queues = [scene.queue(), scene.queue({ name: 'other' })]
    let last = 0
    for (let round = 0; round < 3; round += 1) {
      for (const queue of queues) {
        await queue.add('a')
        const held = await take(queue)
        expect(Number.isSafeInteger(held.token)).toBe(true)
        expect(held.token).toBeGreaterThan(last)
        last = held.token
        await held.done()
      }
    }
  })

  test('retry: counts a failure, keeps the error, and comes back later', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const error = Object.assign(new Error('no network'), { code: 'ENET' })
    expect(await (await take(queue)).retry(error)).toBe('delayed')
    const row = await scene.row('a')
    expect([row?.state, row?.failures, row?.dueAt]).toEqual(['backoff', 1, scene.clock.now() + 5])
    expect(row?.lastError).toBe('{"name":"Error","code":"ENET","message":"no network"}')
    await scene.clock.step(5)
    const again = await take(queue)
    expect([again.failures, again.crashes]).toEqual([1, 0])
    expect(await again.retry()).toBe('delayed')
    expect((await scene.row('a'))?.dueAt).toBe(scene.clock.now() + 10)
  })

  test('retry: any thrown value is stored as an error as far as possible', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const hostile = {
      get message(): string {
        throw new Error('no')
      },
    }
    const errors: [unknown, string][] = [
      ['text', '{"name":"string","message":"text"}'],
      [null, '{"name":"null","message":"null"}'],
      [Symbol('s'), '{"name":"symbol","message":"Symbol(s)"}'],
      [{ name: 'n\0', message: '\ud800' }, '{"name":"n\u2400","message":"\ufffd"}'],
      [hostile, '{"name":"Error","message":"an error that cannot be read"}'],
      [new Error(), '{"name":"Error","message":""}'],
      [{ status: 503 }, '{"name":"Error","message":"{\\"status\\":503}"}'],
    ]
    for (const [error, kept] of errors) {
      await queue.add('a')
      await (await take(queue)).retry(error)
      expect((await scene.row('a'))?.lastError).toBe(kept)
      await queue.cancel('a')
    }
    await queue.add('a')
    await (await take(queue)).retry(new Error('x'.repeat(100_000)))
    expect((await scene.row('a'))?.lastError?.length).toBeLessThan(4_096)
  })

  test('retry: added again meanwhile, it runs at once, and once more after the delay', async () => {
    const { scene, queue, held } = await holding(setup)
    await queue.add('a')
    expect(await held.retry()).toBe('ready')
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(5)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('release: puts the key back in its old place, as if it had not been taken', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    await queue.add('a')
    await scene.clock.step(3)
    await queue.add('c')
    expect(await held.release()).toBe('ready')
    expect((await scene.row('a'))?.failures).toBe(0)
    expect(await drainKeys(queue)).toEqual(['a', 'b', 'c'])
  })

  test('release: wakes a waiter', async () => {
    const { scene, queue, held } = await holding(setup)
    const waiting = queue.get()
    await scene.quiet()
    await held.release()
    expect((await waiting)?.key).toBe('a')
  })

  test('Parked: park keeps the key from running; with an error it counts a failure', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['calm', 'failed'])
    expect(await (await take(queue)).park()).toBe('parked')
    expect(await (await take(queue)).park(new Error('broken'))).toBe('parked')
    expect((await scene.row('calm'))?.failures).toBe(0)
    expect((await scene.row('failed'))?.failures).toBe(1)
    expect((await scene.row('failed'))?.lastError).toContain('broken')
    expect(await queue.len()).toBe(0)
  })

  test('a stale token changes nothing', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('a')
    const stale = await take(queue)
    await scene.inner.finish('q', [{ as: 'release', key: 'a', token: stale.token }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    const held = await take(queue)
    const finishes = [
      (one: Held<string>) => one.done({ forget: true }),
      (one: Held<string>) => one.retry(new Error('x')),
      (one: Held<string>) => one.release(),
      (one: Held<string>) => one.park(),
    ]
    const before = await scene.row('a')
    for (const finish of finishes) expect(await finish(stale)).toBe('lost')
    expect(await scene.row('a')).toEqual(before)
    expect(await held.done()).toBe('idle')
  })

  test('after done the token holds nothing', async () => {
    const { scene, queue, held } = await holding(setup)
    const [done] = await Promise.all([held.done(), queue.add('a')])
    expect(['idle', 'ready']).toContain(done)
    expect((await scene.states())['a']).toBe('ready')
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('a held key is not handed out again, in any process', async () => {
    const scene = new Scene(setup)
    const queues = [scene.queue(), scene.queue()]
    await queues[0]?.add('a')
    const controller = new AbortController()
    const getters = queues.flatMap((queue) => [queue.get(controller), queue.get(controller)])
    const settled = Promise.allSettled(getters)
    await scene.quiet()
    await queues[1]?.add('a')
    await scene.quiet()
    controller.abort()
    const states = (await settled).map(({ status }) => status)
    expect(states.filter((status) => status === 'fulfilled').length).toBe(1)
  })
})

type Factory = (scene: Scene, more?: SceneOptions<string>) => Queue<string>

const layers: { layer: string; make: Factory; back: string }[] = [
  { layer: 'queue', make: (scene, more) => scene.queue(more), back: 'ready' },
  { layer: 'delaying queue', make: (scene, more) => scene.delaying(more), back: 'ready' },
  { layer: 'rate-limiting queue', make: (scene, more) => scene.limited(more), back: 'backoff' },
]

const everyLayer = setups.flatMap((setup) => layers.map((each) => ({ ...each, setup, ...setup })))

describe.each(everyLayer)('leaving a scope on a $layer over $way', ({ setup, make, back }) => {
  test('Held: unfinished, it is retried on a rate-limiting queue and released elsewhere', async () => {
    const scene = new Scene(setup)
    const queue = make(scene)
    await queue.add('a')
    {
      await using held = await take(queue)
      expect(held.key).toBe('a')
    }
    const row = await scene.row('a')
    expect(row?.state).toBe(back)
    expect(row?.failures).toBe(back === 'backoff' ? 1 : 0)
  })

  test('Held: finished, or detached and finished by others, it is left alone', async () => {
    const scene = new Scene(setup)
    const queue = make(scene)
    await queue.add('a')
    {
      await using held = await take(queue)
      await held.done()
    }
    expect(await scene.states()).toEqual({})
  })

  test('Held: a lost one changes nothing', async () => {
    const scene = new Scene(setup)
    const queue = make(scene)
    await queue.add('a')
    {
      await using held = await take(queue)
      await scene.inner.finish('q', [{ as: 'done', key: 'a', token: held.token, forget: false }], {
        dedupe: 'client-go',
        failuresExpireMs: 1_000,
      })
    }
    expect(await scene.states()).toEqual({})
  })
})

describe.each(setups)('a signal over $way', (setup) => {
  test('close: aborts with ERR_CLOSING, once, also for signals that are read later', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'done'])
    const [a, b, done] = await queue.getMany(3)
    const reasons: unknown[] = []
    a?.signal.addEventListener('abort', () => reasons.push(a.signal.reason))
    await done?.done()
    const closing = queue.close()
    await scene.clock.step(0)
    expect(reasons.length).toBe(1)
    expect(SluiceError.is(reasons[0], 'ERR_CLOSING')).toBe(true)
    expect(SluiceError.is(b?.signal.reason, 'ERR_CLOSING')).toBe(true)
    expect(done?.signal.aborted).toBe(false)
    await scene.clock.step(1_000)
    await closing
    expect(reasons.length).toBe(1)
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })
})
