import type { Operate } from '@sluice/core'
import { describe, expect, test, vi } from 'vitest'
import { createQueue, type KeyFilter, memoryDriver, type SelectionCount } from '../../src/index.ts'
import { Scene, setups, take } from '../support/setups.ts'

describe.each(setups)('many keys at once, over $way', (setup) => {
  async function setUp() {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.addMany(['a/1', 'a/2', 'b/1', 'b/2'])
    for (const [key, code, times] of [
      ['a/1', 'E1', 1],
      ['a/2', 'E2', 2],
    ] as const) {
      for (let time = 0; time < times; time += 1) {
        await queue.inspect.runNow(key)
        const held = await take(queue)
        expect(held.key).toBe(key)
        await held.retry(Object.assign(new Error('no'), { code }))
        if (time + 1 < times) await pastOthers(key)
      }
    }
    /** Lets a key come first again. */
    async function pastOthers(key: string) {
      await queue.inspect.park('b/1')
      await queue.inspect.park('b/2')
      await queue.inspect.runNow(key)
      const held = await take(queue)
      expect(held.key).toBe(key)
      await held.release()
    }
    await queue.inspect.unpark('b/1')
    await queue.inspect.unpark('b/2')
    return { scene, queue, inspect: queue.inspect }
  }

  test.each([
    [{}, 4],
    [{ state: 'ready' }, 2],
    [{ state: 'backoff' }, 2],
    [{ prefix: 'a/' }, 2],
    [{ failuresMin: 2 }, 1],
    [{ errorCode: 'E1' }, 1],
    [{ errorCode: 'Error' }, 0],
    [{ prefix: 'a/', errorCode: 'E3' }, 0],
  ] as [KeyFilter, number][])('%o finds %i', async (filter, count) => {
    const { inspect } = await setUp()
    expect(await inspect.select(filter).count()).toEqual({ count, capped: false })
  })

  test('parks and puts back, and doing it again finds no keys', async () => {
    const { inspect } = await setUp()
    const all = inspect.select({ prefix: 'a/' })
    const two = { count: 2, capped: false, confirmed: true, changed: 2, unchanged: 0 }
    const none = { ...two, count: 0, changed: 0 }
    expect(await all.park()).toEqual(two)
    expect(await all.park()).toEqual(none)
    expect(await all.unpark({ forget: true })).toEqual(two)
    expect(await all.unpark({ forget: true })).toEqual(none)
    expect(await inspect.get('a/2')).toMatchObject({ failures: 0, parked: false })
  })

  test('leaves keys alone that are not parked, with their failures, when it unparks the others', async () => {
    const { inspect } = await setUp()
    await inspect.park('a/1')
    const told: SelectionCount[] = []
    const confirm = (found: SelectionCount) => told.push(found) > 0
    const result = await inspect.select({ cap: 1 }).unpark({ forget: true, confirm })
    expect(result).toMatchObject({ count: 1, capped: false, changed: 1, unchanged: 0 })
    expect(told).toEqual([{ count: 1, capped: false }])
    expect(await inspect.get('a/1')).toMatchObject({ failures: 0, parked: false })
    expect(await inspect.get('a/2')).toMatchObject({ failures: 2 })
  })

  test('unparks a key that is parked while it is held', async () => {
    const { inspect, queue } = await setUp()
    const held = await take(queue)
    await inspect.park(held.key)
    expect(await inspect.select({}).unpark()).toMatchObject({ count: 1, changed: 1 })
    expect(await held.done()).toBe('idle')
  })

  test.each(['park', 'runNow', 'forget'] as const)(
    'comes to the keys beyond the cap when %s is done again',
    async (verb) => {
      const { inspect } = await setUp()
      const some = inspect.select({ prefix: 'a/', cap: 1 })
      expect(await some[verb]()).toMatchObject({ count: 1, capped: true, changed: 1 })
      expect(await some[verb]()).toMatchObject({ count: 1, capped: false, changed: 1 })
      expect(await some[verb]()).toMatchObject({ count: 0, changed: 0, unchanged: 0 })
    },
  )

  test('does not remove keys of which nothing is left but that they are held', async () => {
    const { inspect, queue } = await setUp()
    const [held, other] = await queue.getMany(2)
    await queue.add(other!.key)
    const all = inspect.select({ state: 'processing' })
    expect(await all.count()).toEqual({ count: 1, capped: false })
    expect(await all.remove()).toMatchObject({ count: 0, changed: 0, unchanged: 0 })
    expect(await inspect.select({ state: 'dirty' }).remove()).toMatchObject({
      count: 1,
      changed: 1,
    })
    expect([await held!.done(), await other!.done()]).toEqual(['idle', 'idle'])
  })

  test('finds keys by the name of an error that has no code', async () => {
    const { inspect, queue } = await setUp()
    await inspect.park('b/2')
    await (await take(queue)).retry(new TypeError('not a function'))
    expect(await inspect.select({ errorCode: 'TypeError' }).park()).toMatchObject({ changed: 1 })
    expect(await inspect.get('b/1')).toMatchObject({ parked: true })
  })

  test('ends back-offs, and removes', async () => {
    const { scene, inspect } = await setUp()
    expect((await inspect.select({ state: 'backoff' }).runNow()).changed).toBe(2)
    expect((await inspect.counts()).ready).toBe(4)
    expect((await inspect.select({ prefix: 'b/' }).remove()).changed).toBe(2)
    expect(Object.keys(await scene.states())).toEqual(['a/1', 'a/2'])
  })

  test('calls confirm with the count before it does anything, and does nothing without its consent', async () => {
    const { scene, inspect } = await setUp()
    const told: SelectionCount[] = []
    const before = await scene.states()
    const result = await inspect.select({ prefix: 'a/' }).remove({
      confirm: (found) => {
        told.push(found)
        return false
      },
    })
    expect(told).toEqual([{ count: 2, capped: false }])
    expect(result).toEqual({ count: 2, capped: false, confirmed: false, changed: 0, unchanged: 0 })
    expect(await scene.states()).toEqual(before)
  })

  test('never touches more than the cap', async () => {
    const { inspect } = await setUp()
    const some = inspect.select({ cap: 3 })
    expect(await some.count()).toEqual({ count: 3, capped: true })
    expect(await some.park()).toMatchObject({ count: 3, capped: true, changed: 3 })
    expect((await inspect.counts()).parked).toBe(3)
  })

  test('works through more keys than one step takes', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(Array.from({ length: 2_500 }, (_, index) => `key/${index}`))
    const result = await queue.inspect.select({ prefix: 'key/' }).park()
    expect(result).toMatchObject({ count: 2_500, changed: 2_500, unchanged: 0 })
  })
})

test('the driver is called with no empty batch where a key comes after none was found', async () => {
  const driver = memoryDriver()
  const park = vi.spyOn(driver.operate as Operate, 'park')
  await using queue = createQueue<string>({ driver })
  async function confirm() {
    await queue.add('late')
    return true
  }
  const result = await queue.inspect.select({}).park({ confirm })
  expect(result).toMatchObject({ count: 0, changed: 0, unchanged: 0 })
  expect(park).not.toHaveBeenCalled()
})

test('a store in this process, whose pages take as long as the queue is, has larger ones', async () => {
  const driver = memoryDriver()
  const list = vi.spyOn(driver, 'list')
  const park = vi.spyOn(driver.operate as Operate, 'park')
  await using queue = createQueue<string>({ driver })
  await queue.addMany(Array.from({ length: 2_500 }, (_, index) => `key/${index}`))
  expect(await queue.inspect.select({}).park()).toMatchObject({ count: 2_500, changed: 2_500 })
  // One to count the keys, and one to park them.
  expect(list).toHaveBeenCalledTimes(2)
  expect(park.mock.calls.map(([, keys]) => keys.length)).toEqual([1_000, 1_000, 500])
})

test('bad filters are refused at once, naming the parameter', () => {
  const { inspect } = new Scene(setups[0]!).queue()
  const bad: [object, string][] = [
    [{ state: 'odd' }, 'filter.state'],
    [{ failuresMin: -1 }, 'filter.failuresMin'],
    [{ cap: 0 }, 'filter.cap'],
    [{ prefix: 1 }, 'filter.prefix'],
    [{ prefix: 'a\0' }, 'filter.prefix'],
    [{ errrorCode: 'x' }, 'filter.errrorCode'],
  ]
  for (const [filter, parameter] of bad) {
    expect(() => inspect.select(filter as KeyFilter)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter }),
    )
  }
})
