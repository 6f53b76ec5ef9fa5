import { describe, expect, test } from 'vitest'
import type { Held } from '../../src/index.ts'
import { drainKeys, holding, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('done over $way', (setup) => {
  test('a key that was added again goes behind everything that waits', async () => {
    const queue = new Scene(setup).queue()
    await queue.addMany(['a', 'b'])
    const held = await take(queue)
    expect(held.key).toBe('a')
    await queue.add('a')
    await queue.add('c')
    await held.done()
    expect(await drainKeys(queue)).toEqual(['b', 'c', 'a'])
  })

  test('done of a dirty key wakes a waiter', async () => {
    const { scene, queue, held } = await holding(setup)
    const waiting = seen(queue.get())
    await queue.add('a')
    await scene.quiet()
    expect(waiting.state).toBe('waiting')
    await held.done()
    await scene.quiet()
    expect(waiting.value?.key).toBe('a')
  })

  test('done of a key that is not held is lost, and adds nothing', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    expect(await queue.done('a')).toBe('lost')
    expect(await queue.done('b')).toBe('lost')
    expect(await queue.len()).toBe(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('without done a key is not handed out again, however often it is added', async () => {
    const { scene, queue, held } = await holding(setup)
    await queue.add('a')
    await queue.add('a')
    const waiting = seen(queue.get())
    await scene.clock.step(60_000)
    expect(waiting.state).toBe('waiting')
    expect(held.signal.aborted).toBe(false)
    await held.done()
    await scene.quiet()
    expect(waiting.state).toBe('resolved')
  })

  test('3: done says where it leaves the key', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const held: Held<string>[] = []
    for (const key of ['idle', 'ready', 'delayed', 'parked']) {
      await queue.add(key)
      held.push(await take(queue))
    }
    await queue.add('ready')
    await queue.addAfter('delayed', 10)
    await scene.operate.park('q', ['parked'])
    expect(await queue.doneMany(held)).toEqual(['idle', 'ready', 'delayed', 'parked'])
    expect(await queue.doneMany(held)).toEqual(['lost', 'lost', 'lost', 'lost'])
  })

  test('done twice is lost the second time, also while the first is under way', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    const held = await take(queue)
    expect(await Promise.all([held.done(), held.done(), held.retry(), held.release()])).toEqual([
      'idle',
      'lost',
      'lost',
      'lost',
    ])
    expect(await held.park()).toBe('lost')
    expect(await queue.len()).toBe(0)
  })

  test('done with forget forgets failures', async () => {
    const queue = new Scene(setup).limited()
    await queue.addRateLimited('a')
    await queue.addRateLimited('a')
    await queue.add('a')
    const held = await take(queue)
    expect(held.failures).toBe(2)
    await held.done({ forget: true })
    expect(await queue.numRequeues('a')).toBe(0)
    await queue.addRateLimited('a')
    await queue.add('a')
    await (await take(queue)).done({ forget: false })
    expect(await queue.numRequeues('a')).toBe(1)
  })

  test('4: a claimed key is taken once, also by getters that came together', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const getters = [seen(queue.get()), seen(queue.get()), seen(queue.get())]
    await scene.quiet()
    expect(getters.filter(({ state }) => state === 'resolved').length).toBe(1)
  })
})

describe.each(setups)('done(item) over $way', (setup) => {
  test('ends the run of a key that this queue object handed out', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    const held = await take(queue)
    expect(await queue.done('a')).toBe('idle')
    expect(await queue.done('a')).toBe('lost')
    expect(await held.done()).toBe('lost')
  })

  test('takes options, and finds keys by keyOf', async () => {
    const queue = new Scene(setup).limited<{ id: string; n: number }>({ keyOf: ({ id }) => id })
    await queue.addRateLimited({ id: 'x', n: 1 })
    await queue.add({ id: 'x', n: 2 })
    await take(queue)
    expect(await queue.done({ id: 'x', n: 99 }, { forget: true })).toBe('delayed')
    expect(await queue.numRequeues({ id: 'x', n: 0 })).toBe(0)
  })

  test('never ends the run of another holder', async () => {
    const scene = new Scene(setup)
    const mine = scene.queue()
    const other = scene.queue()
    await mine.add('a')
    const held = await take(other)
    expect(await mine.done('a')).toBe('lost')
    expect(await mine.done(held)).toBe('lost')
    expect(await held.done()).toBe('idle')
  })

  test('ends the oldest unfinished run first', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const first = await take(queue)
    // The key is taken from under the holder, and handed to the same queue object once more.
    await scene.operate.remove('q', ['a'])
    await scene.inner.finish('q', [{ as: 'release', key: 'a', token: first.token }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    const second = await take(queue)
    expect(second.token).toBeGreaterThan(first.token)
    expect(await Promise.all([queue.done('a'), queue.done('a')])).toEqual(['lost', 'idle'])
    expect(await queue.done('a')).toBe('lost')
    expect(await second.done()).toBe('lost')
  })
})

describe.each(setups)('doneMany over $way', (setup) => {
  test('ends several runs, and says so of each', async () => {
    const queue = new Scene(setup).limited()
    await queue.addMany(['a', 'b', 'c'])
    const helds = await queue.getMany(3)
    await queue.add('b')
    await helds[2]?.done()
    expect(await queue.doneMany(helds, { forget: true })).toEqual(['idle', 'ready', 'lost'])
    expect(await queue.doneMany([])).toEqual([])
  })
})
