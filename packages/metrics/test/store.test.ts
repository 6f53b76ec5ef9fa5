import { type Clock, SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { expect, onTestFinished, test } from 'vitest'
import { createRecorder } from '../src/index.ts'
import { Ledger, noCounts, SharedStore, StagedQueue, storeDriver } from './stage.ts'

const everywhere = { shared: true, durable: true } as const

function setUp(capabilities: object = everywhere) {
  const clock = fakeClock(0)
  const store = new SharedStore()
  /** A process of its own: its driver, its recorder. */
  const startProcess = (queues: readonly string[] = ['q'], exporter = 'custom') => {
    const ledger = new Ledger()
    const errors: unknown[] = []
    const driver = storeDriver(clock, store, capabilities)
    const recorder = createRecorder({
      provider: ledger.provider(),
      driver,
      queues,
      clock,
      exporter,
      onError: (error) => errors.push(error),
    })
    onTestFinished(async () => {
      await recorder.close()
    })
    return { ledger, recorder, errors, driver }
  }
  return { clock, store, startProcess }
}

test('one process says what is in the store, the others say 0', async () => {
  const { clock, store, startProcess } = setUp()
  const first = startProcess()
  await first.recorder.read()
  await clock.step(1)
  const second = startProcess()
  store.counts = { ...noCounts, ready: 4, dirty: 2, delayed: 3, backoff: 5, oldestReadyAt: -999 }
  await second.recorder.read()
  await first.recorder.read()
  for (const [name, value] of [
    ['q depth', 6],
    ['q delay', 3],
    ['q backoff', 5],
    ['q oldest', 1],
  ] as const) {
    expect(first.ledger.value(name)).toBe(value)
    expect(second.ledger.value(name)).toBe(0)
  }
})

test('ages and waits are by the time of the store, also where the clock of this process is wrong', async () => {
  const clock = fakeClock(0)
  const store = new SharedStore()
  const driver = storeDriver(clock, store, everywhere)
  const ledger = new Ledger()
  const late: Clock = {
    now: () => clock.now() - 3_600_000,
    monotonicMs: () => clock.monotonicMs(),
    startTimer: (ms, onTime) => clock.startTimer(ms, onTime),
    startTicker: (ms, onTick) => clock.startTicker(ms, onTick),
  }
  const recorder = createRecorder({
    provider: ledger.provider(),
    driver,
    queues: ['q'],
    clock: late,
  })
  onTestFinished(() => recorder.close())
  store.counts = { ...noCounts, ready: 1, oldestReadyAt: -5_000 }
  await recorder.read()
  expect(ledger.value('q oldest')).toBe(5)
  // Added by another process, and ready for two seconds.
  const queue = new StagedQueue(clock, driver)
  queue.claim('a', { askedAt: -2_000, readyAt: -2_000 })
  expect(ledger.observations('q latency')).toEqual([2])
})

test('the next one takes over when the first leaves, and at once', async () => {
  const { store, startProcess } = setUp()
  store.counts = { ...noCounts, ready: 7 }
  const first = startProcess()
  await first.recorder.read()
  const second = startProcess()
  await second.recorder.read()
  // Both came at the same instant: either may have been elected, and exactly one was.
  const both = () => [first, second].map(({ ledger }) => ledger.value('q depth'))
  await first.recorder.read()
  expect(both().toSorted()).toEqual([0, 7])
  const elected = first.ledger.value('q depth') === 7 ? first : second
  const other = elected === first ? second : first
  await elected.recorder.close()
  await other.recorder.read()
  expect(other.ledger.value('q depth')).toBe(7)
})

test('the next one takes over at once when the first closes its queue', async () => {
  const { clock, store, startProcess } = setUp()
  store.counts = { ...noCounts, ready: 7 }
  const first = startProcess()
  const queue = new StagedQueue(clock, first.driver)
  queue.add('a')
  await first.recorder.read()
  await clock.step(1)
  const second = startProcess()
  await second.recorder.read()
  expect(second.ledger.value('q depth')).toBe(0)
  queue.notice('closed')
  await second.recorder.read()
  expect(second.ledger.value('q depth')).toBe(7)
})

test('one that died is missed after two and a half of its readings', async () => {
  const { clock, store, startProcess } = setUp()
  store.counts = { ...noCounts, ready: 1 }
  const first = startProcess()
  await first.recorder.read()
  await clock.step(10_000)
  const second = startProcess()
  for (let n = 0; n < 3; n += 1) {
    await first.recorder.read()
    await second.recorder.read()
    await clock.step(10_000)
  }
  expect(second.ledger.value('q depth')).toBe(0)
  await clock.step(10_000)
  await second.recorder.read()
  expect(second.ledger.value('q depth')).toBe(0)
  await clock.step(10_001)
  await second.recorder.read()
  expect(second.ledger.value('q depth')).toBe(1)
})

test('a queue that is closed and opened again is exported by its process as before', async () => {
  const { clock, store, startProcess } = setUp()
  const { recorder, ledger, driver } = startProcess()
  const queue = new StagedQueue(clock, driver, 'q', 'first')
  queue.add('a')
  store.counts = { ...noCounts, ready: 1 }
  await recorder.read()
  // Its registration stays: the store is away while the queue is closed.
  const { tick } = driver
  driver.tick = () => {
    throw new Error('away')
  }
  queue.notice('closed')
  await clock.step(1)
  driver.tick = tick
  new StagedQueue(clock, driver, 'q', 'second').add('b')
  store.counts = { ...noCounts, ready: 2 }
  await recorder.read()
  expect(ledger.value('q depth')).toBe(2)
})

test('each queue, and each way out, has an election of its own', async () => {
  const { clock, store, startProcess } = setUp()
  store.counts = { ...noCounts, ready: 1 }
  const long = `${'long '.repeat(24)}name`
  const first = startProcess(['q'])
  await first.recorder.read()
  await clock.step(1)
  const second = startProcess(['q', 'r', long])
  await second.recorder.read()
  const third = startProcess(['q'], 'opentelemetry')
  await third.recorder.read()
  expect(second.ledger.value('q depth')).toBe(0)
  expect(second.ledger.value('r depth')).toBe(1)
  expect(second.ledger.value(`${long} depth`)).toBe(1)
  expect(third.ledger.value('q depth')).toBe(1)
  for (const name of store.books.keys()) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(128)
})

test('readings asked for together are one', async () => {
  const { store, startProcess } = setUp()
  const { recorder } = startProcess()
  await Promise.all([recorder.read(), recorder.read(), recorder.read()])
  expect(store.reads).toBe(1)
})

test('a store that is away leaves nothing to export, and is reported', async () => {
  const { store, startProcess } = setUp()
  const { recorder, ledger, errors } = startProcess()
  store.counts = { ...noCounts, ready: 3 }
  await recorder.read()
  store.isBroken = true
  await recorder.read()
  expect(ledger.value('q depth')).toBe(0)
  expect(errors).toHaveLength(1)
})

test('a store that no queue has opened yet is no error', async () => {
  const { clock, store, startProcess } = setUp()
  const { recorder, ledger, errors, driver } = startProcess()
  store.isBroken = true
  await recorder.read()
  expect(ledger.value('q depth')).toBe(0)
  expect(errors).toEqual([])
  new StagedQueue(clock, driver).add('a')
  await recorder.read()
  expect(errors).toHaveLength(1)
})

test.each(['ERR_STORE_DAMAGED', 'ERR_SCHEMA_NEWER'] as const)(
  'a queue that cannot be read (%s) is reported from the first read on, and hides no other one',
  async (code) => {
    const { store, startProcess } = setUp()
    const { recorder, ledger, errors, driver } = startProcess(['a', 'b', 'c'])
    store.counts = { ...noCounts, ready: 3 }
    const { counts } = driver
    driver.counts = (queue, options) => {
      if (queue === 'b') throw new SluiceError(code, 'b cannot be read')
      return counts.call(driver, queue, options)
    }
    await recorder.read()
    expect(['a', 'b', 'c'].map((queue) => ledger.value(`${queue} depth`))).toEqual([3, 0, 3])
    expect(errors).toMatchObject([{ code }])
  },
)

test('a store that others cannot see is read without an election; its depth is counted', async () => {
  const { clock, store, startProcess } = setUp({})
  const { recorder, ledger, driver } = startProcess()
  new StagedQueue(clock, driver).add('a')
  store.counts = { ...noCounts, ready: 9, delayed: 2, oldestReadyAt: 0 }
  await clock.step(250)
  await recorder.read()
  expect(ledger.value('q depth')).toBe(1)
  expect(ledger.value('q delay')).toBe(2)
  expect(ledger.value('q oldest')).toBe(0.25)
  expect(store.books.size).toBe(0)
})

test('a shared store that keeps no list of workers is read by everybody', async () => {
  const { store, startProcess } = setUp({ ...everywhere, workers: false })
  store.counts = { ...noCounts, ready: 2 }
  for (const process of [startProcess(), startProcess()]) {
    await process.recorder.read()
    expect(process.ledger.value('q depth')).toBe(2)
  }
})

test('held keys belong to the depth when the leases of all have ended, and not before', async () => {
  const { clock, store, startProcess } = setUp()
  const { recorder, ledger } = startProcess()
  store.counts = { ...noCounts, ready: 1, processing: 3, heldUntil: 1_000 }
  for (const [stepMs, depth] of [
    [999, 1],
    [1, 4],
    [1, 4],
  ] as const) {
    await clock.step(stepMs)
    await recorder.read()
    expect(ledger.value('q depth')).toBe(depth)
  }
})

test('a key that becomes ready after the time of the reading has the age 0', async () => {
  const { clock, store, startProcess } = setUp()
  const { recorder, ledger } = startProcess()
  await clock.step(1_000)
  store.counts = { ...noCounts, ready: 1, oldestReadyAt: 3_000 }
  await recorder.read()
  expect(ledger.value('q oldest')).toBe(0)
})
