import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { DueHeap } from '../src/queue/due-heap.ts'
import { SharedStore, StagedQueue, stage, storeDriver } from './stage.ts'

const shared = { durable: true, shared: true } as const

describe.each([
  ['alone', {}],
  ['on a shared store', shared],
])('%s, a higher priority of a ready key', (_, capabilities) => {
  function setUp() {
    const scene = stage()
    const driver = storeDriver(scene.clock, new SharedStore(), capabilities)
    return { ...scene, queue: new StagedQueue(scene.clock, driver) }
  }

  test.each(['client-go', 'earliest'] as const)(
    'is no add, and its wait goes on, under %s',
    async (dedupe) => {
      const { clock, ledger, queue } = setUp()
      queue.add('foo')
      const dueAt = clock.now()
      await clock.step(60_000)
      queue.ask({ key: 'foo', priority: 5 }, { outcome: 'moved', dueAt }, 0, dedupe)
      await clock.step(1_000)
      queue.claim('foo', { askedAt: dueAt, readyAt: dueAt })
      expect(ledger.value('q adds')).toBe(1)
      expect(ledger.observations('q latency')).toEqual([61])
    },
  )

  test('is no add either where another process has added the key', async () => {
    const { clock, ledger, queue } = setUp()
    await clock.step(60_000)
    if (capabilities !== shared) return
    queue.ask({ key: 'foo', priority: 5 }, { outcome: 'moved', dueAt: 10 }, 0, 'earliest')
    expect(ledger.value('q adds')).toBe(0)
  })

  test('differs from a delayed key that is brought forward, which is an add', async () => {
    const { clock, ledger, queue } = setUp()
    queue.addAfter('foo', 90_000)
    await clock.step(60_000)
    queue.ask({ key: 'foo' }, { outcome: 'moved', dueAt: clock.now() }, 0, 'earliest')
    expect(ledger.value('q adds')).toBe(1)
    await clock.step(1_000)
    queue.claim('foo', { askedAt: 0, readyAt: 60_000 })
    expect(ledger.observations('q latency')).toEqual([1])
  })
})

describe('addAfter of a ready key, alone', () => {
  function setUp() {
    const scene = stage()
    const queue = new StagedQueue(scene.clock, storeDriver(scene.clock))
    queue.add('foo')
    const later = (delayMs: number, outcome: 'added' | 'moved', dedupe: 'client-go' | 'earliest') =>
      queue.ask(
        { key: 'foo', delayMs, priority: 5, maxWaitMs: undefined },
        { outcome, dueAt: 0 },
        0,
        dedupe,
      )
    const finish = (dueAt?: number): void => {
      const token = queue.claim('foo')
      queue.done('foo', token, dueAt === undefined ? {} : { outcome: 'delayed', dueAt })
    }
    return { ...scene, queue, later, finish }
  }

  test("under 'earliest' raises its priority, and promises nothing for later", async () => {
    const { clock, ledger, queue, later } = setUp()
    later(5_000, 'moved', 'earliest')
    const token = queue.claim('foo')
    // While it is held: its finish says that nothing is pending.
    await clock.step(10_000)
    expect([ledger.value('q adds'), ledger.value('q depth')]).toEqual([1, 0])
    queue.done('foo', token)
    expect([ledger.value('q adds'), ledger.value('q depth')]).toEqual([1, 0])
  })

  test("under 'client-go' is a second promise, kept at its earliest", async () => {
    const { clock, ledger, later, finish } = setUp()
    later(5_000, 'added', 'client-go')
    later(9_000, 'moved', 'client-go')
    finish(5_000)
    await clock.step(5_500)
    expect([ledger.value('q adds'), ledger.value('q depth')]).toEqual([2, 1])
    finish()
    await clock.step(10_000)
    expect([ledger.value('q adds'), ledger.value('q depth')]).toEqual([2, 0])
  })
})

test('the depth of a ready key moves to the priority that it has risen to', async () => {
  const depths = new Map<string, number>()
  const move = (priority: string, by: number): void => {
    depths.set(priority, (depths.get(priority) ?? 0) + by)
  }
  const clock = fakeClock(0)
  const scene = stage({ clock })
  await scene.recorder.close()
  const priorityDepth = {
    inc: (priority: string) => move(priority, 1),
    dec: (priority: string) => move(priority, -1),
  }
  const provider = { ...scene.ledger.provider(), newPriorityDepthMetric: () => priorityDepth }
  stage({ clock, provider })
  const queue = new StagedQueue(clock, storeDriver(clock))
  queue.add('foo')
  queue.ask(
    { key: 'foo', delayMs: 5_000, priority: 5, maxWaitMs: undefined },
    { outcome: 'moved', dueAt: 0 },
    0,
    'earliest',
  )
  expect(Object.fromEntries(depths)).toEqual({ 0: 0, 5: 1 })
  queue.claim('foo')
  expect(Object.fromEntries(depths)).toEqual({ 0: 0, 5: 0 })
})

test('delays are counted by the time of the store, not by the wall clock', async () => {
  const { clock, ledger } = stage()
  const driver = storeDriver(clock)
  let ahead = 0
  Object.defineProperty(driver, 'ahead', { get: () => ahead })
  const queue = new StagedQueue(clock, driver)
  queue.ask({ key: 'foo', delayMs: 5_000, maxWaitMs: undefined }, { dueAt: 5_000 })
  const hour = 3_600_000
  clock.setTime(clock.now() + hour)
  ahead = -hour
  await clock.step(4_500)
  expect(ledger.value('q adds')).toBe(0)
  clock.setTime(clock.now() - 3 * hour)
  ahead = 2 * hour
  await clock.step(500)
  expect(ledger.value('q adds')).toBe(1)
  expect(ledger.value('q depth')).toBe(1)
})

test('on a shared store, at most ten thousand adds are remembered: the newest', async () => {
  const { clock, ledger } = stage()
  const queue = new StagedQueue(clock, storeDriver(clock, new SharedStore(), shared))
  for (let n = 0; n <= 10_000; n += 1) queue.add(`foo-${n}`)
  await clock.step(10_000)
  // The wait of a key whose add is not remembered is what the store says: here, 4 s.
  const claim = { askedAt: 0, readyAt: clock.now() - 4_000 }
  for (const key of ['foo-0', 'foo-10000']) queue.claim(key, claim)
  expect(ledger.observations('q latency')).toEqual([4, 10])
})

test('a key that is delayed a million times over is remembered once', () => {
  const heap = new DueHeap()
  for (let n = 0; n < 100_000; n += 1) heap.set({ key: 'foo', dueAt: 1_000_000 + n, priority: 0 })
  expect(heap.popDue(Infinity)?.key).toBe('foo')
  expect(heap.popDue(Infinity)).toBeUndefined()
})
