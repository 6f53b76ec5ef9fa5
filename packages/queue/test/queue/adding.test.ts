import { describe, expect, test } from 'vitest'
import { exponential } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { drainKeys, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('add over $way', (setup) => {
  test('keys come out in the order they were added', async () => {
    const queue = new Scene(setup).queue()
    for (const key of ['c', 'a', 'b']) expect(await queue.add(key)).toBe('added')
    expect(await drainKeys(queue)).toEqual(['c', 'a', 'b'])
  })

  test('a waiting key that is added again is one run, in its old place', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await queue.add('b')
    await scene.clock.step(5)
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.len()).toBe(2)
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
  })

  test('adds while a key is held are one more run, after done', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    const held = await take(queue)
    expect(await queue.add('a')).toBe('added')
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.len()).toBe(0)
    expect(await held.done()).toBe('ready')
    expect(await queue.len()).toBe(1)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('an add wakes a waiter', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const first = seen(queue.get())
    const second = seen(queue.get())
    await scene.quiet()
    expect([first.state, second.state]).toEqual(['waiting', 'waiting'])
    await queue.add('a')
    await scene.quiet()
    expect([first.state, second.state]).toEqual(['resolved', 'waiting'])
    expect(first.value?.key).toBe('a')
  })

  test('there is no limit to pending keys, unless maxPending is set', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const keys = Array.from({ length: 2_500 }, (_, n) => `key-${n}`)
    await Promise.all(keys.map((key) => queue.add(key)))
    expect(await queue.len()).toBe(2_500)
  })

  test('len counts ready keys: not held, dirty, delayed or parked ones', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    for (const key of ['held', 'dirty', 'parked', 'ready']) await queue.add(key)
    await queue.addAfter('delayed', 1_000)
    await take(queue)
    await take(queue)
    await queue.add('dirty')
    await (await take(queue)).park()
    expect(await queue.len()).toBe(1)
    expect(await scene.states()).toEqual({
      held: 'processing',
      dirty: 'dirty',
      parked: 'parked',
      ready: 'ready',
      delayed: 'delayed',
    })
  })

  test('Errors: maxPending refuses new keys, and takes pending ones', async () => {
    const queue = new Scene(setup).queue({ maxPending: 2 })
    expect(await queue.add('a')).toBe('added')
    expect(await queue.add('b')).toBe('added')
    const full = await refusal(queue.add('c'))
    expect(full).toMatchObject({ code: 'ERR_QUEUE_FULL', retryable: true })
    expect(await queue.add('a')).toBe('unchanged')
    expect(await queue.len()).toBe(2)
    await (await take(queue)).done()
    expect(await queue.add('c')).toBe('added')
    expect(await drainKeys(queue)).toEqual(['b', 'c'])
  })

  test('add: a parked key keeps its adds and is not handed out', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    expect(await (await take(queue)).park()).toBe('parked')
    expect(await queue.add('a')).toBe('parked')
    expect(await queue.len()).toBe(0)
    const waiting = seen(queue.get())
    await scene.quiet()
    expect(waiting.state).toBe('waiting')
    await scene.operate.unpark('q', ['a'], { forget: true })
    await queue.add('b')
    await scene.quiet()
    expect(waiting.value?.key).toBe('a')
  })

  test('add: an add to a key that is delayed is a second promise', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    expect(await queue.addAfter('a', 100)).toBe('added')
    expect(await queue.add('a')).toBe('added')
    expect(await queue.add('a')).toBe('unchanged')
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(100)
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('add: each of the adds made together gets the outcome that it would get alone', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ maxPending: 2 })
    const twice = (key: string) => Promise.allSettled([queue.add(key), queue.add(key)])
    await queue.add('parked')
    await (await take(queue)).park()
    expect(await twice('parked')).toMatchObject([{ value: 'parked' }, { value: 'parked' }])
    expect(await twice('a')).toMatchObject([{ value: 'added' }, { value: 'unchanged' }])
    const full = { reason: { code: 'ERR_QUEUE_FULL' } }
    expect(await twice('b')).toMatchObject([full, full])
    expect(await drainKeys(queue)).toEqual(['a'])
  })

  test('add: delayed adds that are made together with others are promises of their own', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited({ limiter: exponential({ baseMs: 200, maxMs: 200 }) })
    const made = [
      queue.add('a'),
      queue.addAfter('a', 100),
      queue.add('b'),
      queue.addRateLimited('b'),
    ]
    await Promise.all(made)
    expect(await drainKeys(queue)).toEqual(['a', 'b'])
    await scene.clock.step(100)
    expect(await drainKeys(queue)).toEqual(['a'])
    await scene.clock.step(100)
    expect(await drainKeys(queue)).toEqual(['b'])
  })

  test('add: an acknowledged add is claimed by the next waiter', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const keys = ['é', '\u{1f600}', 'with space', '   ', 'json', 'JSON:x', '\u2028', 'a/b\\c"']
    const adds = keys.map((key) => queue.add(key))
    await Promise.all(adds)
    expect(await drainKeys(queue)).toEqual(keys)
  })
})

describe.each(setups)('priority over $way', (setup) => {
  test('Order: a higher priority comes first, then the earlier add', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('low', { priority: -5 })
    await queue.add('normal 1')
    await queue.add('high', { priority: 1_000 })
    await queue.add('normal 2', { priority: 0 })
    await queue.add('lowest', { priority: -1_000 })
    expect(await drainKeys(queue)).toEqual(['high', 'normal 1', 'normal 2', 'low', 'lowest'])
  })

  test('Order: a key whose priority rises goes to the tail of the new one', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('riser')
    await queue.add('high', { priority: 5 })
    expect(await queue.add('riser', { priority: 5 })).toBe('moved')
    expect(await queue.add('riser', { priority: 3 })).toBe('unchanged')
    await queue.add('last', { priority: 5 })
    expect(await drainKeys(queue)).toEqual(['high', 'riser', 'last'])
  })

  test('Order: the new run of a held key has its own priority, the highest of its adds', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a', { priority: 9 })
    const held = await take(queue)
    expect(held.priority).toBe(9)
    await queue.add('a', { priority: 1 })
    await queue.add('a', { priority: 2 })
    await held.done()
    await queue.add('b', { priority: 3 })
    const next = await take(queue)
    expect(next.key).toBe('b')
    expect((await take(queue)).priority).toBe(2)
  })

  test('Order: release brings the claimed priority back', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a', { priority: 7 })
    await queue.add('b', { priority: 7 })
    await (await take(queue)).release()
    const again = await take(queue)
    expect([again.key, again.priority]).toEqual(['a', 7])
  })

  test('calls made together answer as calls made one after the other', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a', { priority: 3 })
    const priorities = [0, 5, 1, 5, 9]
    const outcomes = await Promise.all(priorities.map((priority) => queue.add('a', { priority })))
    expect(outcomes).toEqual(['unchanged', 'moved', 'unchanged', 'unchanged', 'moved'])
    await queue.add('b', { priority: 10 })
    expect(await Promise.all([4, 10].map((priority) => queue.add('b', { priority })))).toEqual([
      'unchanged',
      'unchanged',
    ])
  })
})

describe.each(setups)('cancel over $way', (setup) => {
  test('cancel takes back pending runs, whenever they are due', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.add('ready')
    await queue.addAfter('both', 50)
    await queue.add('both')
    await queue.addAfter('delayed', 50)
    for (const key of ['ready', 'both', 'delayed']) {
      expect(await queue.cancel(key)).toBe('cancelled')
      expect(await queue.cancel(key)).toBe('unchanged')
    }
    await scene.clock.step(50)
    expect(await queue.len()).toBe(0)
    expect(await queue.cancel('unknown')).toBe('unchanged')
  })

  test('cancel leaves a holder alone, and takes back adds made meanwhile', async () => {
    const queue = new Scene(setup).queue()
    await queue.add('a')
    const held = await take(queue)
    await queue.add('a')
    expect(await queue.cancel('a')).toBe('cancelled')
    expect(held.signal.aborted).toBe(false)
    expect(await held.done()).toBe('idle')
  })

  test('an add, a cancel and an add of one key take effect in this order', async () => {
    const queue = new Scene(setup).queue()
    const outcomes = await Promise.all([
      queue.add('a'),
      queue.cancel('a'),
      queue.cancel('a'),
      queue.add('a'),
      queue.add('a'),
    ])
    expect(outcomes).toEqual(['added', 'cancelled', 'unchanged', 'added', 'unchanged'])
    expect(await drainKeys(queue)).toEqual(['a'])
  })
})
