import { describe, expect, test } from 'vitest'
import { drainKeys, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('addAfter over $way', (setup) => {
  test('zero and less are an add, at once', async () => {
    const queue = new Scene(setup).delaying()
    for (const [key, ms] of [
      ['zero', 0],
      ['minus zero', -0],
      ['negative', -1e9],
    ] as const) {
      expect(await queue.addAfter(key, ms)).toBe('added')
    }
    expect(await queue.len()).toBe(3)
    expect(await queue.addAfter('zero', 0)).toBe('unchanged')
    expect(await drainKeys(queue)).toEqual(['zero', 'minus zero', 'negative'])
  })

  test('due exactly at its time, and not before', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('a', 100.5)
    const waiting = seen(queue.get())
    await scene.clock.step(100)
    expect([waiting.state, await queue.len()]).toEqual(['waiting', 0])
    await scene.clock.step(0.25)
    expect(waiting.state).toBe('waiting')
    await scene.clock.step(0.25)
    expect(waiting.value?.key).toBe('a')
  })

  test('a shorter delay that comes later wakes waiters in time', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('slow', 5_000)
    const first = seen(queue.get())
    const second = seen(queue.get())
    await scene.clock.step(1_000)
    await queue.addAfter('quick', 100)
    await scene.clock.step(100)
    expect(first.value?.key).toBe('quick')
    expect(second.state).toBe('waiting')
    await scene.clock.step(3_900)
    expect(second.value?.key).toBe('slow')
  })

  test('the earlier time wins, a later one is dropped', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    expect(await queue.addAfter('a', 100)).toBe('added')
    expect(await queue.addAfter('a', 200)).toBe('unchanged')
    expect(await queue.addAfter('a', 100)).toBe('unchanged')
    expect(await queue.addAfter('a', 50)).toBe('moved')
    await scene.clock.step(49)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(500)
    expect(await queue.len()).toBe(0)
  })

  test('a key is handed out when its delay has elapsed, even if the wall clock is set', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const hour = 3_600_000
    await queue.addAfter('a', hour)
    const waiting = seen(queue.get())
    await scene.quiet()
    scene.clock.setTime(scene.clock.now() + hour)
    await scene.clock.step(hour / 2)
    scene.clock.setTime(scene.clock.now() - 5 * hour)
    await scene.clock.step(hour / 2 - 1)
    expect(waiting.state).toBe('waiting')
    await scene.clock.step(1)
    expect(waiting.value?.key).toBe('a')
  })

  test('a delayed key that becomes due while it is held runs again after done', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.add('a')
    const held = await take(queue)
    await queue.addAfter('a', 10)
    await scene.clock.step(10)
    expect(await scene.states()).toEqual({ a: 'dirty' })
    await queue.add('b')
    expect(await held.done()).toBe('ready')
    expect(await drainKeys(queue)).toEqual(['b', 'a'])
  })

  test('one that becomes due while it waits collapses into that run', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('a', 10)
    await queue.add('a')
    await scene.clock.step(10)
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(10_000)
    expect(await queue.len()).toBe(0)
  })

  test('by default an add and a delayed add are two promises', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    expect(queue.capabilities).toMatchObject({ delays: 'store', dedupe: 'client-go' })
    await queue.addAfter('a', 100)
    expect(await queue.add('a')).toBe('added')
    expect(await drainKeys(queue)).toEqual(['a'])
    expect(await scene.states()).toEqual({ a: 'delayed' })
    await scene.clock.step(100)
    expect(await drainKeys(queue)).toEqual(['a'])
    await queue.add('b')
    expect(await queue.addAfter('b', 100)).toBe('added')
    expect(await drainKeys(queue)).toEqual(['b'])
    await scene.clock.step(100)
    expect(await drainKeys(queue)).toEqual(['b'])
  })

  test('4: with dedupe: earliest they are one, at the earlier time', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying({ dedupe: 'earliest' })
    expect(queue.capabilities.dedupe).toBe('earliest')
    await queue.addAfter('a', 100)
    expect(await queue.add('a')).toBe('moved')
    await queue.add('b')
    expect(await queue.addAfter('b', 100)).toBe('unchanged')
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
    await scene.clock.step(100)
    expect(await queue.len()).toBe(0)
  })

  test('equal times come out in the order of arrival', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const keys = Array.from({ length: 12 }, (_, n) => `t${n}`)
    for (const key of keys) await queue.addAfter(key, 50)
    await scene.clock.step(50)
    expect(await drainKeys(queue)).toEqual(keys)
  })

  test('keys that become ready together come out by their times', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    for (const ms of [300, 100, 200, 50]) await queue.addAfter(`after ${ms}`, ms)
    await queue.add('at once')
    await scene.clock.step(1_000)
    await queue.add('at last')
    expect(await drainKeys(queue)).toEqual([
      'at once',
      'after 50',
      'after 100',
      'after 200',
      'after 300',
      'at last',
    ])
  })

  test('delayed keys are not in len', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('a', 10)
    expect(await queue.len()).toBe(0)
    expect(await scene.states()).toEqual({ a: 'delayed' })
  })

  test('ten years are honoured', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const years = 10 * 365.25 * 86_400_000
    await queue.addAfter('a', years)
    await scene.clock.step(years - 1)
    expect(await queue.len()).toBe(0)
    await scene.clock.step(1)
    expect(await queue.len()).toBe(1)
  })

  test('Order: a delayed key keeps its priority', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('high', 10, { priority: 5 })
    await queue.add('low')
    await scene.clock.step(10)
    expect(await drainKeys(queue)).toEqual(['high', 'low'])
  })

  test('4: a delay outlives the queue object, and a shutdown', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const other = scene.delaying()
    await queue.addAfter('a', 100)
    await queue.shutDown()
    await queue.close()
    await scene.clock.step(100)
    expect((await take(other)).key).toBe('a')
  })
})

describe.each(setups)("addAfter with when: 'latest' over $way", (setup) => {
  test('2: moves a purely delayed key later', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.addAfter('a', 100, { when: 'latest' })
    await scene.clock.step(60)
    expect(await queue.addAfter('a', 100, { when: 'latest' })).toBe('moved')
    await scene.clock.step(60)
    expect(await queue.len()).toBe(0)
    expect(await queue.addAfter('a', 10, { when: 'latest' })).toBe('unchanged')
    await scene.clock.step(40)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('2: bounded by maxWaitMs since it was first added', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const options = { when: 'latest', maxWaitMs: 150 } as const
    await queue.addAfter('a', 100, options)
    await scene.clock.step(90)
    expect(await queue.addAfter('a', 100, options)).toBe('moved')
    await scene.clock.step(59)
    expect(await queue.addAfter('a', 100, options)).toBe('unchanged')
    await scene.clock.step(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('2: never moves a ready key', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying({ dedupe: 'earliest' })
    await queue.add('a')
    expect(await queue.addAfter('a', 100, { when: 'latest' })).toBe('unchanged')
    expect(await drainKeys(queue)).toEqual(['a'])
    expect(await scene.states()).toEqual({})
  })

  test('2: nor one that a limiter delayed', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addRateLimited('a')
    expect(await queue.addAfter('a', 1_000, { when: 'latest' })).toBe('unchanged')
    await scene.clock.step(5)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('2: waiters are woken at the later time, not at the earlier', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    const waiting = seen(queue.get())
    await queue.addAfter('a', 100, { when: 'latest' })
    await scene.clock.step(50)
    await queue.addAfter('a', 100, { when: 'latest' })
    await scene.clock.step(99)
    expect(waiting.state).toBe('waiting')
    await scene.clock.step(1)
    expect(waiting.value?.key).toBe('a')
  })
})
