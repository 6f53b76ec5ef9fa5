import { describe, expect, test } from 'vitest'
import { batchedSetups, late, leasedSetups, Scene, seen, setups, take } from './setups.ts'

const keys = ['a', 'b', 'c', 'd', 'e', 'f']

describe.each(setups)('prefetch over $way', (setup) => {
  test('every key is handed out once, in order, and given back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    const taken: string[] = []
    for (let n = 0; n < keys.length; n += 1) {
      const held = await take(queue)
      taken.push(held.key)
      expect(await held.done()).toBe('idle')
    }
    expect(taken).toEqual(keys)
    expect(await scene.states()).toEqual({})
  })

  test('keys that were claimed ahead and never started are given back by shutDown', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    const other = scene.queue()
    await queue.addMany(keys)
    const held = await take(queue)
    await scene.quiet()
    await queue.shutDown()
    await scene.quiet()
    expect((await scene.row('b'))?.state).toBe('ready')
    expect((await other.getMany(10)).map(({ key }) => key)).toEqual(keys.slice(1))
    expect(await held.done()).toBe('idle')
  })

  test('and by close', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    await (await take(queue)).done()
    await scene.quiet()
    await queue.close()
    const states = await scene.states()
    expect(Object.values(states)).toEqual(Array(5).fill('ready'))
  })

  test('a drain waits for them as for everything that is due', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    await (await take(queue)).done()
    const drained = seen(queue.shutDownWithDrain())
    for (const key of keys.slice(1)) {
      await scene.quiet()
      expect(drained.state).toBe('waiting')
      const held = await take(queue)
      expect(held.key).toBe(key)
      await held.done()
    }
    await scene.quiet()
    expect(drained.state).toBe('resolved')
  })
})

describe.each(batchedSetups)('claims ahead of demand over $way', (setup) => {
  test('5 Claims: so many are claimed ahead, and handed out without asking again', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    const first = await take(queue)
    await scene.quiet()
    const states = Object.values(await scene.states())
    expect(states.filter((state) => state === 'processing').length).toBe(4)
    expect((await take(queue)).key).toBe('b')
    await first.done()
  })

  test('5 Claims: a queue that is not in use claims nothing', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    await scene.clock.step(60_000)
    expect(new Set(Object.values(await scene.states()))).toEqual(new Set(['ready']))
  })

  test('5 Claims: they are handed back by a pause, within a heartbeat', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10, leaseMs: 600_000 })
    await queue.addMany(keys)
    await take(queue)
    await scene.quiet()
    await scene.operate.pause('q')
    await scene.clock.step(10_000)
    const states = Object.values(await scene.states())
    expect(states.filter((state) => state === 'processing').length).toBe(1)
  })

  test('an item added since is the one that is handed out next time, not this', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<{ n: number }>({ prefetch: 10, keyOf: ({ n }) => `k${n % 10}` })
    await queue.add({ n: 1 })
    await queue.add({ n: 2 })
    const first = await take(queue)
    await scene.quiet()
    await queue.add({ n: 12 })
    expect((await take(queue)).item).toEqual({ n: 2 })
    await first.done()
  })
})

describe.each(leasedSetups)('leases of keys claimed ahead over $way', (setup) => {
  test('5 Claims: unstarted for a third of the lease they are handed back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    const held = await take(queue)
    await scene.quiet()
    await scene.clock.step(9_999)
    expect((await scene.row('b'))?.state).toBe('processing')
    await scene.clock.step(1)
    expect((await scene.row('b'))?.state).toBe('ready')
    await scene.clock.step(60_000)
    expect(held.signal.aborted).toBe(false)
    expect((await take(queue)).key).toBe('b')
  })

  test('a holder that takes its time does not claim ahead again and again', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2 })
    await queue.addMany(keys)
    const held = await take(queue)
    await scene.clock.step(600_000)
    expect(Object.values(await scene.states()).filter((word) => word === 'ready').length).toBe(5)
    expect(await held.done()).toBe('idle')
    expect(await queue.getMany(1)).toMatchObject([{ key: 'b' }])
  })

  test('one whose lease was lost is not handed out', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10, leaseMs: 3_000 })
    await queue.addMany(keys)
    await take(queue)
    await scene.quiet()
    const row = await scene.row('b')
    await scene.inner.finish('q', [{ as: 'park', key: 'b', token: row?.token ?? 0 }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    await scene.clock.step(1_000)
    const rest = await queue.getMany(10)
    expect(rest.map(({ key }) => key)).not.toContain('b')
  })
})

describe('prefetch and a slow store', () => {
  test('claims take keys for waiters and for the prefetch buffer, no more', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 4 })
    await queue.addMany(Array.from({ length: 50 }, (_, n) => `k${n}`))
    await Promise.all([queue.get(), queue.get()])
    await scene.quiet()
    const limits = scene.late
      .requests('claim')
      .map((request) => (request as { limit: number }).limit)
    expect(limits[0]).toBe(6)
    const states = Object.values(await scene.states())
    expect(states.filter((state) => state === 'processing').length).toBe(6)
  })
})
