import { type AddOutcome, batchKeysMax } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  createRateLimitingQueue,
  type RateLimitingQueue,
  type ResyncOptions,
  resync,
} from '../../src/index.ts'

const hour = 3_600_000
const items = Array.from({ length: 600 }, (_, index) => `item-${index}`)

function setUp(dedupe: 'client-go' | 'earliest' = 'client-go') {
  const clock = fakeClock(1_000_000_000_000)
  const driver = memoryDriver()
  const queue = createRateLimitingQueue<string>({ name: 'q', driver, clock, dedupe })
  onTestFinished(() => queue.close())
  return { clock, driver, queue }
}

/** The runs of each item while the clock goes on for `ms`, and the most in one step. */
async function runsWithin(
  clock: ReturnType<typeof fakeClock>,
  queue: RateLimitingQueue<string>,
  ms: number,
  stepMs = hour / 60,
) {
  const runs = new Map<string, number>()
  let most = 0
  for (let passed = 0; passed < ms; passed += stepMs) {
    await clock.step(stepMs)
    const { ready } = await queue.inspect.counts()
    most = Math.max(most, ready)
    const held = ready === 0 ? [] : await queue.getMany(1_000)
    for (const { item } of held) runs.set(item, (runs.get(item) ?? 0) + 1)
    await queue.doneMany(held)
  }
  return { runs, most }
}

async function untilPending<T>(queue: RateLimitingQueue<T>, count: number): Promise<void> {
  await expect.poll(() => queue.inspect.counts()).toMatchObject({ delayed: count })
}

test.each(['client-go', 'earliest'] as const)(
  'every item runs once in each period, spread over it (%s)',
  async (dedupe) => {
    const { clock, queue } = setUp(dedupe)
    const syncing = resync({ queue, list: () => items, everyMs: hour, clock })
    await untilPending(queue, items.length)
    const first = await runsWithin(clock, queue, hour)
    expect([...first.runs.values()]).toEqual(items.map(() => 1))
    // 600 items in 60 minutes: ten a minute.
    expect(first.most).toBeLessThan(30)
    const later = await runsWithin(clock, queue, 4 * hour)
    expect(later.runs.size).toBe(items.length)
    for (const count of later.runs.values()) expect(count).toBe(4)
    await syncing.stop()
  },
)

test('a clock that begins at the epoch costs no item its first turn', async () => {
  const clock = fakeClock(0)
  const queue = createRateLimitingQueue<string>({ driver: memoryDriver(), clock })
  onTestFinished(() => queue.close())
  await using _syncing = resync({ queue, list: () => items, everyMs: hour, clock })
  await untilPending(queue, items.length)
  const { runs } = await runsWithin(clock, queue, hour)
  expect([...runs.values()]).toEqual(items.map(() => 1))
})

test('several processes ask for the same runs', async () => {
  const { clock, driver, queue } = setUp()
  const other = createRateLimitingQueue<string>({ name: 'q', driver, clock })
  onTestFinished(() => other.close())
  const first = resync({ queue, list: () => items, everyMs: hour, clock })
  await untilPending(queue, items.length)
  await runsWithin(clock, queue, hour / 3)
  const second = resync({ queue: other, list: () => items, everyMs: hour, clock })
  const { runs } = await runsWithin(clock, queue, 6 * hour)
  const counts = [...runs.values()]
  expect(runs.size).toBe(items.length)
  expect(Math.max(...counts)).toBe(6)
  expect(Math.min(...counts)).toBe(6)
  await Promise.all([first.stop(), second.stop()])
})

test('a change comes before the resync, and low priority waits', async () => {
  const { clock, queue } = setUp()
  const syncing = resync({ queue, list: async () => ['a', 'b'], everyMs: 1_000, clock })
  await untilPending(queue, 2)
  await clock.step(1_000)
  await queue.add('change')
  const held = await queue.getMany(3)
  expect(held.map(({ item }) => item)[0]).toBe('change')
  expect(held.slice(1).map(({ priority }) => priority)).toEqual([-100, -100])
  await queue.doneMany(held)
  await syncing.stop()
})

test('objects and lists that are read piece by piece', async () => {
  const clock = fakeClock()
  const queue = createRateLimitingQueue<{ readonly id: number }>({ name: 'q', clock })
  onTestFinished(() => queue.close())
  async function* pages() {
    for (let id = 0; id < 2_500; id += 1) yield { id }
  }
  const syncing = resync({ queue, list: pages, everyMs: 60_000, clock })
  await untilPending(queue, 2_500)
  await syncing.stop()
})

test('a batch of adds is sent when the one before is answered, and none after stop', async () => {
  const adds: PromiseWithResolvers<AddOutcome>[] = []
  const queue = {
    addAfter() {
      const add = Promise.withResolvers<AddOutcome>()
      adds.push(add)
      return add.promise
    },
  }
  const answered = async (): Promise<number> => {
    for (const { resolve } of adds) resolve('added')
    await new Promise(setImmediate)
    return adds.length
  }
  const list = () => Array.from({ length: 4 * batchKeysMax }, (_, index) => `item-${index}`)
  const syncing = resync({ queue, list, everyMs: hour, clock: fakeClock() })
  await new Promise(setImmediate)
  expect(adds).toHaveLength(batchKeysMax)
  expect(await answered()).toBe(2 * batchKeysMax)
  const onStopped = vi.fn()
  const stopped = syncing.stop().then(onStopped)
  await new Promise(setImmediate)
  expect(onStopped).not.toHaveBeenCalled()
  expect(await answered()).toBe(2 * batchKeysMax)
  await stopped
})

test('every value has a turn of its own, whatever the order of its members', async () => {
  const delays: number[] = []
  const queue = {
    async addAfter(_item: object, ms: number): Promise<AddOutcome> {
      delays.push(ms)
      return 'added'
    },
  }
  const list = () => [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: 1, b: 3 },
  ]
  const syncing = resync({ queue, list, everyMs: hour, clock: fakeClock() })
  await new Promise(setImmediate)
  await syncing.stop()
  expect(delays[1]).toBe(delays[0])
  expect(delays[2]).not.toBe(delays[0])
})

test('passes begin twice in each period, however long they take', async () => {
  const clock = fakeClock()
  const queue = { addAfter: async (): Promise<AddOutcome> => 'added' }
  const lists: PromiseWithResolvers<string[]>[] = []
  const list = () => {
    const slow = Promise.withResolvers<string[]>()
    lists.push(slow)
    return slow.promise
  }
  const syncing = resync({ queue, list, everyMs: hour, clock })
  await clock.step(hour / 4)
  lists[0]?.resolve(['a'])
  await new Promise(setImmediate)
  await clock.step(hour / 4 - 1)
  expect(lists).toHaveLength(1)
  await clock.step(1)
  expect(lists).toHaveLength(2)
  lists[1]?.resolve([])
  await syncing.stop()
})

test('the pause after a failure is short again once a pass has succeeded, and ends with stop', async () => {
  const clock = fakeClock()
  const queue = { addAfter: async (): Promise<AddOutcome> => 'added' }
  const outcomes = ['no', 'no', 'yes', 'no', 'yes']
  const list = vi.fn(() => {
    if (outcomes.shift() === 'no') throw new Error('the list is away')
    return ['a']
  })
  const syncing = resync({ queue, list, everyMs: hour, clock, onError: () => undefined })
  for (const [index, ms] of [0, 1_000, 2_000, hour / 2, 1_000].entries()) {
    await clock.step(ms)
    await new Promise(setImmediate)
    expect(list).toHaveBeenCalledTimes(index + 1)
  }
  await syncing.stop()
  expect(clock.waiters()).toBe(0)
})

test('a list that fails is tried again, sooner than the next period', async () => {
  const { clock, queue } = setUp()
  const errors: unknown[] = []
  let tries = 0
  const list = (): string[] => {
    tries += 1
    if (tries < 3) throw new Error(`try ${tries}`)
    return ['a']
  }
  const syncing = resync({
    queue,
    list,
    everyMs: hour,
    clock,
    onError: (error) => errors.push(error),
  })
  await expect.poll(() => errors).toHaveLength(1)
  await clock.step(1_000)
  await expect.poll(() => errors).toHaveLength(2)
  await clock.step(2_000)
  await untilPending(queue, 1)
  expect(errors.map(String)).toEqual(['Error: try 1', 'Error: try 2'])
  await syncing.stop()
})

test('an item that the queue refuses is reported, and costs the others nothing', async () => {
  const clock = fakeClock()
  const queue = createRateLimitingQueue<unknown>({ name: 'q', clock })
  onTestFinished(() => queue.close())
  const errors: unknown[] = []
  const count = 2 * batchKeysMax
  const list = () => [{ at: new Date(0) }, 'x'.repeat(10_000), ...Array(count).keys()]
  const onError = (error: unknown): void => void errors.push(error)
  await using _ = resync<unknown>({ queue, list, everyMs: hour, clock, onError })
  await untilPending(queue, count)
  const invalid = expect.objectContaining({ code: 'ERR_INVALID_INPUT' })
  expect(errors).toEqual([invalid, invalid])
})

test('an error of onError does not end it, and is printed with the error of the list', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => print.mockRestore())
  const { clock, queue } = setUp()
  let lists = 0
  const list = (): string[] => {
    lists += 1
    if (lists === 1) throw new Error('the list is away')
    return items
  }
  const onError = vi.fn(() => {
    throw new Error('of onError')
  })
  await using _ = resync({ queue, list, everyMs: hour, clock, onError })
  await expect.poll(() => onError).toHaveBeenCalledOnce()
  expect(print.mock.calls.flat().map(String)).toEqual([
    'sluice: the onError of resync threw:',
    'Error: of onError',
    'when it was called with:',
    'Error: the list is away',
  ])
  await clock.step(1_000)
  await untilPending(queue, items.length)
})

test.each(['close', 'shutDown'] as const)(
  'it ends with the %s of the queue, and by stop',
  async (end) => {
    const { clock, queue } = setUp()
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const syncing = resync({ queue, list: () => ['a'], everyMs: 1_000, clock, onError })
    await untilPending(queue, 1)
    await queue[end]()
    await clock.step(5_000)
    await syncing.stop()
    expect(errors).toEqual([])
    const { queue: another } = setUp()
    const lists = vi.fn(() => ['a'])
    await using stopped = resync({ queue: another, list: lists, everyMs: 1_000, clock, onError })
    await stopped.stop()
    await clock.step(5_000)
    expect(lists.mock.calls.length).toBeLessThan(2)
  },
)

test.each([
  [{ everyMs: 0 }, /everyMs/],
  [{ everyMs: 2 ** 31 }, /everyMs/],
  [{ list: [] }, /list/],
  [{ queue: {} }, /addAfter/],
  [{ queue: null }, /queue must be/],
  [{ every: 5 }, /every/],
  [{ priority: 5_000 }, /^priority must be/],
  [{ priority: null }, /^priority must be/],
  [{ clock: {} }, /^clock.now must be/],
  [{ clock: null }, /^clock must be/],
  [{ onError: 'log' }, /^onError must be/],
] as const)('%o is refused', (wrong, message) => {
  const { queue } = setUp()
  const options = { queue, list: () => ['a'], everyMs: 1, ...wrong }
  expect(() => resync(options as unknown as ResyncOptions<string>)).toThrow(message)
})

test.each(['goes on', 'fails'])(
  'an add that fails while the list is still being read is an error of the pass: the list %s',
  async (end) => {
    const { clock } = setUp()
    const reading = Promise.withResolvers<void>()
    const errors: unknown[] = []
    const syncing = resync({
      queue: { addAfter: () => Promise.reject(new Error('no add')) },
      async *list() {
        yield 'a'
        await reading.promise
        if (end === 'fails') throw new Error('no list')
      },
      everyMs: hour,
      clock,
      onError: (error) => errors.push(error),
    })
    // A rejection that nothing handles within a turn ends a process.
    await new Promise((resolve) => setImmediate(resolve))
    reading.resolve()
    const expected = end === 'fails' ? 'no list' : 'no add'
    await expect.poll(() => errors).toEqual([new Error(expected)])
    await syncing.stop()
  },
)
