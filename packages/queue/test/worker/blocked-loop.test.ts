import {
  heartbeatMs,
  type SluiceEvent,
  sluiceChannel,
  systemClock,
  type Ticker,
} from '@sluice/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createQueue, createWorker, SluiceError } from '../../src/index.ts'
import { LoopWatch } from '../../src/worker/loop-watch.ts'

// real time: a blocked event loop is blocked in real time, and only a real timer can be late.

function computeFor(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

function setUp() {
  const errors: unknown[] = []
  const events: SluiceEvent[] = []
  const listener = {
    start: (event: SluiceEvent) => {
      if (event.verb === 'loop-blocked') events.push(event)
    },
  }
  sluiceChannel.subscribe(listener as never)
  onTestFinished(() => sluiceChannel.unsubscribe(listener as never))
  const queue = createQueue<string>({ onError: (error) => errors.push(error) })
  onTestFinished(() => queue.close())
  return { queue, errors, events }
}

test('a handler that computes is named at once, and the worker is not ready', async () => {
  const { queue, errors, events } = setUp()
  await queue.addMany(['quick', 'slow'])
  const worker = createWorker({
    queue,
    blockedMs: 100,
    handler: (item) => {
      if (item === 'slow') computeFor(300)
    },
  })
  await worker.runUntilIdle()
  expect(errors.every((error) => SluiceError.is(error, 'ERR_LOOP_BLOCKED'))).toBe(true)
  // On a busy machine the loop may stand still for other reasons, too.
  expect(events.map(({ request }) => request)).toContainEqual({
    blockedMs: expect.any(Number),
    keys: ['slow'],
  })
})

test('one that computes after an await is named among those that were running', async () => {
  const { queue, errors, events } = setUp()
  await queue.addMany(['patient', 'slow'])
  const done = Promise.withResolvers<void>()
  const worker = createWorker({
    queue,
    blockedMs: 100,
    concurrency: 2,
    handler: async (item) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (item === 'slow') {
        computeFor(300)
        done.resolve()
      }
      await done.promise
    },
  })
  await worker.runUntilIdle()
  expect(errors).not.toEqual([])
  expect(events.map(({ request }) => request)).toContainEqual({
    blockedMs: expect.any(Number),
    keys: expect.arrayContaining(['slow']),
  })
  expect(worker.health().ready).toBe(false)
})

test('many keys that never wait leave others their turn', async () => {
  const { queue } = setUp()
  await queue.addMany(Array.from({ length: 300 }, (_, index) => `key/${index}`))
  let ticks = 0
  // real time: the timer shows that other work had its turn
  const ticker = setInterval(() => {
    ticks += 1
  }, 1)
  const worker = createWorker({ queue, handler: () => computeFor(1) })
  await worker.runUntilIdle()
  clearInterval(ticker)
  expect(ticks).toBeGreaterThan(5)
})

test.each([
  ['1 s without a lease', Infinity, 1_000],
  ['a third of the lease', 12_000, 4_000],
])(
  'by default it may be blocked for %s; then the worker is not ready until its next heartbeat',
  async (_, leaseMs, blockedMs) => {
    // Of the past: a later block is reported from the end of the last one on.
    let now = systemClock.monotonicMs() - 100_000
    const ticks: (() => void)[] = []
    vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => now)
    vi.spyOn(systemClock, 'startTicker').mockImplementation((_ms, tick) => {
      ticks.push(tick)
      return { stop: () => true } as Ticker
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const queue = createQueue<string>({ leaseMs })
    const worker = createWorker({ queue, handler: () => undefined })
    await queue.len()
    const reasonsAfter = (ms: number) => {
      now += ms
      for (const tick of ticks) tick()
      return worker.health().reasons
    }
    expect(reasonsAfter(1.25 * blockedMs)).toEqual([])
    expect(reasonsAfter(1.25 * blockedMs + 1)).toEqual(['LOOP_BLOCKED'])
    now += heartbeatMs
    expect(worker.health()).toMatchObject({ live: true, ready: false })
    now += 1
    expect(worker.health().reasons).toEqual([])
    await worker.stop()
    await queue.close()
  },
)

test('a block is reported once for each process, with the keys of all workers', () => {
  // Few milliseconds: this process counts later blocks from the end of the last one on, which is to come yet.
  let now = systemClock.monotonicMs()
  const ticks: (() => void)[] = []
  vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => now)
  vi.spyOn(systemClock, 'startTicker').mockImplementation((_, tick) => {
    ticks.push(tick)
    return { stop: () => true } as Ticker
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const blocks: unknown[] = []
  const messages: string[] = []
  const [first, second] = ['first', 'second'].map(
    (key) =>
      new LoopWatch({
        clock: systemClock,
        blockedMs: 4,
        keys: () => [key],
        onBlocked: (block, error) => {
          blocks.push(block)
          messages.push(error.message)
        },
      }),
  )
  now += 13
  for (const tick of ticks) tick()
  const keys = ['first', 'second']
  expect(blocks).toEqual([{ blockedMs: 12, keys }])
  // The handlers need not be at fault: a container that is paused looks the same from inside.
  expect(messages).toEqual([
    'the event loop was blocked for 12 ms while these keys were running: "first", "second"; no lease can be ' +
      'renewed meanwhile: let handlers await, or compute in a worker thread, unless the process was paused or ' +
      'had no processor [ERR_LOOP_BLOCKED]',
  ])
  expect([first, second].map((watch) => watch?.wasBlockedWithin(0))).toEqual([true, true])
  first?.stop()
  now += 9
  void second?.handedBack()
  expect(blocks.slice(1)).toEqual([{ blockedMs: 8, keys: ['second'] }])
  second?.stop()
})
