import { type Driver, nextTurn, SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Backend } from '../../src/core/backend.ts'
import { LateBackend } from '../../src/core/late-backend.ts'
import { QueueCore } from '../../src/core/queue-core.ts'
import { LateModule, lateCalls } from '../../src/environment/late.ts'
import type * as Sluice from '../../src/index.ts'
import { checkQueueOptions } from '../../src/queue/options.ts'

/** A driver in memory that opens later, as the first of a page does. */
function openedLater(): Driver {
  const driver = memoryDriver()
  const open = driver.open.bind(driver)
  driver.open = async (options) => {
    await nextTurns()
    await open(options)
  }
  return driver
}

const nextTurns = (): Promise<void> => new Promise((resolve) => void nextTurn(resolve))

// Files of this package share a process.
afterAll(() => {
  vi.doUnmock('#parts')
  vi.resetModules()
})

/** A copy of the package of which nothing was loaded that is loaded at its first use. */
async function fresh(): Promise<typeof Sluice> {
  vi.resetModules()
  // On a server these parts are read with the package; here they are loaded as in a browser. The copy
  // gets its own, of which nothing was loaded either.
  vi.doMock('#parts', () => import('../../src/environment/fetched-parts.ts'))
  return await import('../../src/index.ts')
}

describe.each([
  ['a direct backend', Infinity],
  ['a batched backend', 30_000],
])('the first calls of a queue, made while %s is loaded', (_, leaseMs) => {
  let sluice: typeof Sluice
  beforeEach(async () => {
    sluice = await fresh()
  })

  test('reach the store in their order', async () => {
    const queue = sluice.createDelayingQueue<{ id: string; version: number }>({
      driver: openedLater(),
      leaseMs,
      keyOf: ({ id }) => id,
    })
    const outcomes = [
      queue.add({ id: 'a', version: 1 }),
      queue.add({ id: 'b', version: 1 }),
      queue.cancel({ id: 'b', version: 1 }),
      queue.addAfter({ id: 'c', version: 1 }, 60_000),
      queue.add({ id: 'a', version: 2 }),
    ]
    expect(await Promise.all(outcomes)).toEqual([
      'added',
      'added',
      'cancelled',
      'added',
      'unchanged',
    ])
    expect(await queue.len()).toBe(1)
    const held = await queue.get()
    expect(held?.item).toEqual({ id: 'a', version: 2 })
    expect(await held?.done()).toBe('idle')
    await queue.close()
  })

  test('an addMany is refused once all its keys are answered', async () => {
    const queue = sluice.createDelayingQueue({ driver: openedLater(), leaseMs, maxPending: 1 })
    const adding = queue.addAfter('a', 60_000)
    const moving = queue.addAfter('a', 30_000)
    const answered: string[] = []
    const refused = queue.addMany(['b', 'a']).catch(() => answered.push('addMany'))
    // It follows the last add of `addMany`, which has to wait for the two before.
    const last = queue.add('a').then(() => answered.push('the add after it'))
    await Promise.all([adding, moving, refused, last])
    expect(answered).toEqual(['the add after it', 'addMany'])
    await queue.close()
  })

  test('an item that its caller changes meanwhile is stored as it was', async () => {
    const queue = sluice.createQueue<{ id: string; version: number }>({
      driver: openedLater(),
      leaseMs,
      keyOf: ({ id }) => id,
    })
    const item = { id: 'a', version: 1 }
    const added = queue.add(item)
    item.version = 2
    await added
    const held = await queue.get()
    expect(held?.item).toEqual({ id: 'a', version: 1 })
    await held?.done()
    await queue.close()
  })

  test('waiters are answered in their order, and one can be aborted', async () => {
    const queue = sluice.createQueue({ driver: openedLater(), leaseMs })
    const leaving = new AbortController()
    const aborted = queue.get({ signal: leaving.signal })
    const first = queue.get()
    const second = queue.getMany(2)
    leaving.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await queue.addMany(['a', 'b', 'c'])
    const helds = [await first, ...(await second)]
    expect(helds.map((held) => held?.key)).toEqual(['a', 'b', 'c'])
    for (const held of helds) await held?.done()
    await queue.close()
  })

  test('a worker runs keys, for ten lease durations', async () => {
    const clock = fakeClock()
    const queue = sluice.createQueue({ driver: openedLater(), leaseMs, clock })
    const ran: string[] = []
    const worker = sluice.createWorker({
      queue,
      concurrency: 2,
      handler: async (item) => {
        await new Promise<void>((resolve) => clock.startTimer(300_000, resolve))
        ran.push(item)
      },
    })
    void queue.addMany(['a', 'b'])
    await expect.poll(() => queue.inspect.counts()).toMatchObject({ processing: 2 })
    await clock.step(300_000)
    await worker.stop()
    expect(ran).toEqual(['a', 'b'])
    expect(await queue.len()).toBe(0)
    await queue.close()
  })

  test('a close waits for adds, and ends waiters', async () => {
    const driver = openedLater()
    const queue = sluice.createDelayingQueue({ leaseMs, driver })
    const waiting = queue.get()
    const added = queue.addAfter('a', 60_000)
    await queue.close()
    expect(await added).toBe('added')
    expect(await waiting).toBeUndefined()
    await expect(queue.add('c')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    const next = sluice.createQueue({ leaseMs, driver })
    expect(await next.inspect.counts()).toMatchObject({ delayed: 1 })
    next.addSoon('b')
    await next.close()
    const last = sluice.createQueue({ leaseMs, driver })
    expect(await last.len()).toBe(1)
    await last.close()
  })

  test('a queue whose driver is not open waits for it, also after others have loaded', async () => {
    const first = sluice.createQueue({ leaseMs })
    await first.add('a')
    const second = sluice.createQueue({ driver: openedLater(), leaseMs })
    expect(await second.add('b')).toBe('added')
    await first.close()
    await second.close()
  })

  test('a queue that was not used closes without being loaded', async () => {
    const queue = sluice.createQueue({ driver: openedLater(), leaseMs })
    const { core } = queue as unknown as { readonly core: QueueCore }
    expect(core.backend.constructor.name).toBe('LateBackend')
    await queue.close()
    await expect(queue.len()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('a drain waits for what was due', async () => {
    const queue = sluice.createQueue({ driver: openedLater(), leaseMs })
    void queue.add('a')
    const drained = queue.shutDownWithDrain()
    await (await queue.get())?.done()
    await drained
    expect(await queue.get()).toBeUndefined()
    await queue.close()
  })

  test('wrong calls fail at once', async () => {
    const queue = sluice.createQueue({ driver: openedLater(), leaseMs })
    await expect(queue.add('x'.repeat(600))).rejects.toMatchObject({ code: 'ERR_INVALID_INPUT' })
    await expect(queue.getMany(0)).rejects.toMatchObject({ code: 'ERR_INVALID_INPUT' })
    await expect(queue.inspect.get('')).rejects.toMatchObject({ code: 'ERR_INVALID_INPUT' })
    expect(() => queue.inspect.select({ cap: 0 })).toThrow('filter.cap')
    await queue.close()
  })

  test('the leases of others on a direct driver are ended', async () => {
    const clock = fakeClock()
    const driver = memoryDriver()
    const queue = sluice.createQueue({ driver, clock })
    await queue.add('a')
    const request = { limit: 1, holder: 'another', claimId: 'one', leaseMs: 1_000 }
    expect((await driver.claim('', request)).claims).toHaveLength(1)
    const waiting = queue.get()
    await clock.step(1_000)
    // Its back-off begins when its lease is ended, which may be after the step.
    await expect.poll(() => queue.inspect.get('a')).toMatchObject({ crashes: 1 })
    await clock.step(1_000)
    expect(await (await waiting)?.done()).toBe('idle')
    await queue.close()
  })

  test('the verbs in a transaction take their turns', async () => {
    const driver = openedLater()
    const transact = () => ({ add: driver.add.bind(driver), finish: driver.finish.bind(driver) })
    Object.assign(driver, { capabilities: { ...driver.capabilities, transact: 'async' }, transact })
    const queue = sluice.createQueue({ driver, leaseMs })
    const within = queue.within({})
    const outcomes = [within.add('a'), within.addMany(['a', 'b'])]
    expect(await Promise.all(outcomes)).toEqual(['added', ['unchanged', 'added']])
    const helds = await queue.getMany(2)
    await expect(within.doneMany([undefined as never])).rejects.toThrow('held must be a Held')
    expect(await within.doneMany(helds)).toEqual(['idle', 'idle'])
    await queue.close()
  })

  test('the inspection keeps a filter as it was', async () => {
    const queue = sluice.createQueue()
    await queue.addMany(['a/1', 'a/2', 'b/1'])
    const filter = { prefix: 'a/' }
    const selection = queue.inspect.select(filter)
    filter.prefix = 'b/'
    expect(await selection.count()).toEqual({ count: 2, capped: false })
    expect(await selection.park()).toMatchObject({ changed: 2 })
    expect(await queue.inspect.counts()).toMatchObject({ parked: 2, ready: 1 })
    await queue.close()
  })
})

describe('a backend that cannot be loaded', () => {
  const failure = new SluiceError('ERR_STORE', 'no such file', { retryable: true })

  function coreThatLoads(load: (core: QueueCore) => Promise<Backend>): QueueCore {
    const options = checkQueueOptions<unknown>({ name: 'orders' })
    return new QueueCore(options, (core) => new LateBackend(core, () => load(core)))
  }

  test('fails the calls and waiters that need it, and is loaded again by the next', async () => {
    const { BatchedBackend } = await import('../../src/batched/batched-backend.ts')
    let isThere = false
    const core = coreThatLoads(async (loading) => {
      if (!isThere) throw failure
      return new BatchedBackend(loading)
    })
    const ask = { key: 'a', item: undefined, priority: 0, delayMs: 0 }
    const [add, count] = [core.add(ask, false), core.backend.len()]
    await expect(add).rejects.toBe(failure)
    await expect(count).rejects.toBe(failure)
    isThere = true
    expect(await core.add(ask, false)).toBe('added')
    expect(core.backend).toBeInstanceOf(BatchedBackend)
    await core.lifecycle.close()
  })

  test('does not keep a queue from closing', async () => {
    const core = coreThatLoads(() => new Promise(() => {}))
    const add = core.add({ key: 'a', item: undefined, priority: 0, delayMs: 0 }, false)
    const refused = expect(add).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    // real time: a close waits for what was accepted, but not for ever
    await core.lifecycle.close(0, 600)
    await refused
  })
})

test('a queue whose backend fails to load while it closes is closed', async () => {
  let fail = (_: unknown): void => {}
  const loading = new Promise<Backend>((_, reject) => {
    fail = reject
  })
  const options = checkQueueOptions<unknown>({ name: 'orders' })
  const core = new QueueCore(options, (of) => new LateBackend(of, () => loading))
  const add = core.add({ key: 'a', item: undefined, priority: 0, delayMs: 0 }, false)
  const failure = new SluiceError('ERR_STORE', 'no such file')
  const refused = expect(add).rejects.toBe(failure)
  const closing = core.lifecycle.close()
  // The close waits for the add by then.
  await nextTurns()
  fail(failure)
  await closing
  await refused
  expect(core.phase).toBe('closed')
})

describe('a module that is loaded at its first use', () => {
  test('is loaded once, and is there synchronously from then on', async () => {
    let loads = 0
    const late = new LateModule(async () => {
      loads += 1
      return { size: 3 }
    })
    expect(late.loaded).toBeUndefined()
    const [one, two] = await Promise.all([late.get(), late.get()])
    expect(one).toBe(two)
    expect(late.get()).toBe(one)
    expect(loads).toBe(1)
  })

  test('is asked for again after a failure, which says what could not be done', async () => {
    const missing = new TypeError('Failed to fetch')
    let isThere = false
    const late = new LateModule(async () => {
      if (!isThere) throw missing
      return { size: 3 }
    })
    const failed = await Promise.resolve(late.get()).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'ERR_STORE', retryable: true, cause: missing })
    isThere = true
    expect(await late.get()).toEqual({ size: 3 })
  })

  test('has its calls made on the object itself', async () => {
    const counter = {
      count: 0,
      add(n: number) {
        this.count += n
        return this.count
      },
    }
    let made: typeof counter | Promise<typeof counter> = Promise.resolve(counter)
    const calls = lateCalls<typeof counter, 'add'>(['add'], () => made)
    expect(await calls.add(2)).toBe(2)
    made = counter
    expect(calls.add(3)).toBe(5)
  })
})
