import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import {
  createQueue,
  createRateLimitingQueue,
  createWorker,
  exponential,
  inspectStore,
  memoryDriver,
  SluiceError,
} from '../../src/index.ts'

const leases = [
  ['without a lease', Infinity],
  ['with leases', 30_000],
] as const

describe.each(leases)('inspect %s', (_name, leaseMs) => {
  function setUp() {
    const clock = fakeClock()
    const driver = memoryDriver()
    const options = { name: 'orders', driver, leaseMs, clock }
    const queue = createRateLimitingQueue<string>({
      ...options,
      limiter: exponential({ baseMs: 1_000, maxMs: 60_000 }),
    })
    return { clock, driver, queue, options }
  }

  test('a key without a pending run has no priority left of earlier runs', async () => {
    const { clock, queue } = setUp()
    await queue.addRateLimited('cancelled', { priority: 9 })
    await queue.cancel('cancelled')
    await queue.addRateLimited('done', { priority: 9 })
    await clock.step(1_000)
    const held = await queue.get()
    expect((await queue.inspect.get('done'))?.priority).toBe(9)
    await held?.done()
    await queue.add('parked', { priority: 9 })
    await (await queue.get())?.park()
    expect((await queue.inspect.get('parked'))?.priority).toBe(9)
    await queue.cancel('parked')
    const { keys } = await queue.inspect.list()
    expect(keys.map(({ key, state, priority }) => [key, state, priority])).toEqual([
      ['cancelled', 'idle', 0],
      ['done', 'idle', 0],
      ['parked', 'parked', 0],
    ])
    await queue.close()
  })

  test.each(['{', ''])('an item that is stored as %o hides no other key', async (text) => {
    const { driver, queue } = setUp()
    const list = driver.list.bind(driver)
    driver.list = async (...call) => {
      const reply = await list(...call)
      return { ...reply, rows: reply.rows.map((row) => ({ ...row, item: text })) }
    }
    await queue.addMany(['a', 'json:1'])
    const { keys } = await queue.inspect.list()
    expect(keys.map(({ key, item }) => [key, item])).toEqual([
      ['a', text],
      ['json:"json:1"', text],
    ])
    expect(await queue.inspect.explain('a')).toMatchObject({ state: 'ready' })
    // An operator's add keeps the item that is stored, and must not store that.
    const store = inspectStore(driver)
    await expect(store.add('orders', { key: 'a' })).rejects.toMatchObject({
      code: 'ERR_STORE_DAMAGED',
    })
    expect(await store.add('orders', { key: 'a', item: 1 })).toBe('unchanged')
    await store.close()
    await queue.close()
  })

  test('between two pages the event loop turns', async () => {
    const { queue } = setUp()
    await queue.addMany(['a', 'b', 'c'])
    const { cursor } = await queue.inspect.list({ limit: 1 })
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    const { keys } = await queue.inspect.list({ limit: 1, cursor })
    expect([keys.map(({ key }) => key), hasTurned]).toEqual([['b'], true])
    await queue.close()
  })

  test('foresees what the end of a lease does to a key with a delayed run', async () => {
    const { clock, queue } = setUp()
    await queue.add('k')
    const held = await queue.get()
    const nextOf = async () => (await queue.inspect.explain('k')).next
    const leaseUntil = (await queue.inspect.get('k'))?.held?.leaseUntil
    const end = (to: string) => (leaseUntil === undefined ? undefined : { at: leaseUntil, to })
    expect(await nextOf()).toEqual(end('backoff'))
    await queue.addAfter('k', 60_000)
    expect(await nextOf()).toEqual(end('backoff'))
    await queue.addAfter('k', 1_000)
    expect(await nextOf()).toEqual(end('ready'))
    await clock.step(1_000)
    expect((await nextOf())?.to).toBe(end('ready')?.to)
    await held?.done()
    await queue.close()
  })

  test('foresees that the end of a lease parks a key that has crashed too often', async () => {
    const { options, clock } = setUp()
    const queue = createRateLimitingQueue<string>({ ...options, maxCrashes: 1 })
    await queue.addMany(['k', 'dirty'])
    const helds = await queue.getMany(2)
    await queue.add('dirty')
    for (const key of ['k', 'dirty']) {
      const { next } = await queue.inspect.explain(key)
      expect(next).toEqual(
        leaseMs === Infinity ? undefined : { at: clock.now() + leaseMs, to: 'parked' },
      )
    }
    await queue.doneMany(helds)
    await queue.close()
  })

  test('walks a key through every state, and explains each', async () => {
    const { clock, queue } = setUp()
    const { inspect } = queue
    const blockedBy = async () => (await inspect.explain('k')).blockedBy
    const state = async () => (await inspect.explain('k')).state

    expect([await state(), await blockedBy()]).toEqual(['absent', 'NOT_FOUND'])

    await queue.addAfter('k', 5_000)
    expect([await state(), await blockedBy()]).toEqual(['delayed', 'DELAYED'])
    expect((await inspect.explain('k')).info).toEqual(await inspect.get('k'))
    expect((await inspect.explain('k')).next).toEqual({ at: clock.now() + 5_000, to: 'ready' })

    await clock.step(5_000)
    expect(await state()).toBe('ready')
    expect(await blockedBy()).toBe(queue.capabilities.workers ? 'NO_WORKERS' : undefined)

    expect(await inspect.pause()).toBe('changed')
    expect(await blockedBy()).toBe('QUEUE_PAUSED')
    expect(await inspect.pause()).toBe('unchanged')
    expect(await inspect.resume()).toBe('changed')

    const held = await queue.get()
    expect(await state()).toBe('processing')
    const processing = (await inspect.explain('k')).conditions.find(
      ({ code }) => code === 'PROCESSING',
    )
    expect(processing?.ok).toBe(false)
    expect(processing?.evidence).toContain(`token ${held?.token}`)

    await queue.add('k')
    expect(await state()).toBe('dirty')
    expect((await inspect.get('k'))?.held?.dirtySince).toBe(clock.now())
    await queue.cancel('k')

    await held?.retry(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    expect(await state()).toBe('backoff')
    const backoff = (await inspect.explain('k')).conditions.find(
      ({ code }) => code === 'BACKOFF_ITEM',
    )
    expect(backoff).toMatchObject({ ok: false, until: clock.now() + 1_000 })
    expect((await inspect.get('k'))?.lastError).toEqual({
      name: 'Error',
      code: 'ECONNREFUSED',
      message: 'refused',
    })

    expect(await inspect.runNow('k')).toBe('changed')
    expect(await state()).toBe('ready')
    expect(await inspect.park('k')).toBe('changed')
    expect([await state(), (await inspect.get('k'))?.parked]).toEqual(['parked', true])
    expect((await inspect.explain('k')).conditions.find(({ code }) => code === 'PARKED')?.ok).toBe(
      false,
    )
    expect(await inspect.unpark('k')).toBe('changed')
    const again = await queue.get()
    await again?.done()
    expect(await state()).toBe('idle')
    expect((await inspect.get('k'))?.failures).toBe(1)
    await queue.forget('k')
    expect(await state()).toBe('absent')
    await queue.close()
  })

  test('a release takes a key from a holder that hangs, and fences it', async () => {
    const { queue } = setUp()
    const { inspect } = queue
    expect(await inspect.release('k')).toBe('missing')
    await queue.add('k')
    expect(await inspect.release('k')).toBe('unchanged')
    const hung = await queue.get()
    await queue.add('k')
    expect(await inspect.release('k', { token: (hung?.token ?? 0) + 1 })).toBe('unchanged')
    expect(await inspect.release('k', { token: hung?.token ?? 0 })).toBe('changed')
    const key = await inspect.get('k')
    expect([key?.state, key?.failures, key?.crashes]).toEqual(['ready', 0, 0])

    const next = await queue.get()
    expect(next?.key).toBe('k')
    expect(await hung?.done()).toBe('lost')
    expect((await inspect.get('k'))?.held?.token).toBe(next?.token)
    expect(await next?.done()).toBe('idle')
    await queue.close()
  })

  test('a waiting getter gets a released key at once', async () => {
    const { queue } = setUp()
    await queue.add('k')
    const hung = await queue.get()
    const getting = queue.get()
    await queue.inspect.release('k')
    const held = await getting
    expect(held?.token).toBeGreaterThan(hung?.token ?? 0)
    await expect(queue.inspect.release('k', { token: 0 })).rejects.toThrow('token')
    expect(await hung?.done()).toBe('lost')
    await held?.done()
    await queue.close()
  })

  test('a resume hands out pending keys', async () => {
    const { queue } = setUp()
    await queue.inspect.pause()
    await queue.add('k')
    const getting = queue.get()
    await queue.inspect.resume()
    const held = await getting
    expect(held?.key).toBe('k')
    await held?.done()
    await queue.close()
  })

  test('counts each key once, and says how old the oldest is', async () => {
    const { clock, queue } = setUp()
    const { inspect } = queue
    expect(await inspect.oldest()).toBeUndefined()
    await queue.addMany(['a', 'b', 'c', 'd'])
    await queue.addAfter('e', 1_000)
    await queue.addRateLimited('f')
    const held = await queue.get()
    await queue.add('a')
    const other = await queue.get()
    await inspect.park('d')
    expect(await inspect.counts()).toEqual({
      ready: 1,
      delayed: 1,
      backoff: 1,
      processing: 1,
      dirty: 1,
      parked: 1,
      idle: 0,
      capped: false,
      paused: false,
      oldestReadyAt: clock.now(),
      ...(leaseMs === Infinity ? {} : { heldUntil: clock.now() + leaseMs }),
    })
    await clock.step(500)
    expect(await inspect.oldest()).toEqual({ readyAt: clock.now() - 500, ageMs: 500 })
    await held?.done()
    await other?.done()
    await queue.close()
  })

  test('lists in pages, by state and by prefix', async () => {
    const { queue } = setUp()
    const { inspect } = queue
    await queue.addMany(['b/1', 'a/2', 'a/1', 'c/1'])
    const first = await inspect.list({ limit: 2 })
    expect(first.keys.map(({ key }) => key)).toEqual(['a/1', 'a/2'])
    const second = await inspect.list({ limit: 2, cursor: first.cursor ?? '' })
    expect(second.keys.map(({ key }) => key)).toEqual(['b/1', 'c/1'])
    expect(second.cursor).toBeUndefined()
    const some = await inspect.list({ prefix: 'a/', state: 'ready' })
    expect(some.keys.map(({ key }) => key)).toEqual(['a/1', 'a/2'])
    await queue.close()
  })

  test('remove and purge leave the holder alone', async () => {
    const { queue } = setUp()
    const { inspect } = queue
    await queue.addMany(['a', 'b', 'c'])
    const held = await queue.get()
    await queue.add('a')
    expect(await inspect.remove('a')).toBe('changed')
    expect(await inspect.remove('nobody')).toBe('missing')
    expect((await inspect.get('a'))?.state).toBe('processing')
    expect(await inspect.purge()).toBe(2)
    expect(await held?.done()).toBe('idle')
    await queue.close()
  })

  test('a second run is not shown any more when one claim takes both', async () => {
    const { clock, queue } = setUp()
    const { inspect } = queue
    const laterAt = clock.now() + 50
    await queue.addAfter('k', 50)
    await queue.add('k')
    await clock.step(49)
    expect((await inspect.get('k'))?.laterAt).toBe(laterAt)
    await clock.step(1)
    const { keys } = await inspect.list()
    for (const info of [await inspect.get('k'), (await inspect.explain('k')).info, keys[0]]) {
      expect(info).toMatchObject({ key: 'k', state: 'ready' })
      expect(info).not.toHaveProperty('laterAt')
    }
    expect(await (await queue.get())?.done()).toBe('idle')
    await queue.close()
  })

  test('bad input names the parameter and changes nothing', async () => {
    const { queue } = setUp()
    const { inspect } = queue
    const bad: [() => Promise<unknown>, string][] = [
      [() => inspect.get(''), 'key'],
      [() => inspect.counts({ cap: 0 }), 'cap'],
      [() => inspect.list({ limit: 5_000 }), 'limit'],
      [() => inspect.list({ state: 'odd' as never }), 'state'],
      [() => inspect.list({ prefix: 'a\0' }), 'prefix'],
      [() => inspect.list({ cursor: '\ud83d' }), 'cursor'],
      [() => inspect.unpark('k', { forget: 1 as never }), 'forget'],
    ]
    for (const [call, parameter] of bad) {
      await expect(call()).rejects.toMatchObject({ code: 'ERR_INVALID_INPUT', parameter })
    }
    await queue.close()
    await expect(inspect.get('k')).rejects.toSatisfy((error) => SluiceError.is(error, 'ERR_CLOSED'))
  })
})

test('workers are listed, the newest first', async () => {
  const clock = fakeClock()
  const driver = memoryDriver()
  const queues = [1, 2].map(() => createQueue<string>({ name: 'orders', driver, clock }))
  for (const [at, queue] of queues.entries()) {
    createWorker<string>({ queue, concurrency: at + 1, handler: () => undefined })
    await clock.step(1_000)
  }
  const workers = await queues[0]!.inspect.workers()
  expect(workers.map(({ concurrency }) => concurrency)).toEqual([2, 1])
  for (const queue of queues) await queue.close()
})

test('a worker registers, and is dropped when it has been gone for a while', async () => {
  const clock = fakeClock()
  const queue = createRateLimitingQueue<string>({ name: 'orders', clock })
  const worker = createWorker<string>({ queue, concurrency: 3, handler: () => undefined })
  await clock.step(0)
  const [row] = await queue.inspect.workers()
  expect(row).toMatchObject({ concurrency: 3, pid: process.pid, settings: { leaseMs: 'none' } })
  await clock.step(55_000)
  expect(await queue.inspect.workers()).toHaveLength(1)
  await worker.stop()
  await clock.step(61_000)
  expect(await queue.inspect.workers()).toHaveLength(0)
  await queue.close()
})
