import { expect, test } from 'vitest'
import { noCounts, SharedStore, StagedQueue, stage, storeDriver, throwingAtAdds } from './stage.ts'

function setUp() {
  const scene = stage()
  return { ...scene, queue: new StagedQueue(scene.clock, storeDriver(scene.clock)) }
}

const plan = { kind: 'exponential', baseMs: 200, maxMs: 1_000 } as const

test('a scrape counts the keys that became due since the last refresh', async () => {
  const { clock, ledger, queue, recorder } = setUp()
  queue.addAfter('later', 100)
  await clock.step(150)
  await recorder.read()
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([1, 1])
  queue.addAfter('after the shutdown', 100)
  queue.notice('shut-down')
  await clock.step(1_000)
  await recorder.read()
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([2, 2])
})

test('a provider that throws at a scrape is reported, and the scrape ends', async () => {
  const { ledger } = stage()
  const errors: unknown[] = []
  const { clock, recorder } = stage({
    provider: throwingAtAdds(ledger.provider()),
    onError: (error) => errors.push(error),
  })
  new StagedQueue(clock, storeDriver(clock)).addAfter('later', 100)
  await clock.step(150)
  await recorder.read()
  expect(errors).toHaveLength(1)
})

test('a provider that throws at what is in the store is reported, and the other queues are read', async () => {
  const { ledger } = stage()
  const provider = ledger.provider()
  const throwing = {
    set: () => {
      throw new Error('no')
    },
  }
  const { clock, errors, recorder } = stage({
    provider: {
      ...provider,
      newOldestReadyAgeMetric: (name) =>
        name === 'q' ? throwing : provider.newOldestReadyAgeMetric!(name),
    },
  })
  const store = new SharedStore()
  store.counts = { ...noCounts, ready: 1, oldestReadyAt: -2_000 }
  const driver = storeDriver(clock, store)
  for (const name of ['q', 'r']) new StagedQueue(clock, driver, name).add('a')
  await recorder.read()
  expect(errors).toEqual([new Error('no')])
  expect(ledger.value('r oldest')).toBe(2)
})

test('a provider that throws when a closed queue is dropped is reported, and the scrape ends', async () => {
  const { ledger } = stage()
  const forgetQueue = () => {
    throw new Error('no')
  }
  const { clock, errors, recorder } = stage({ provider: { ...ledger.provider(), forgetQueue } })
  new StagedQueue(clock, storeDriver(clock)).notice('closed')
  for (let scrape = 1; scrape <= 3; scrape += 1) await recorder.read()
  expect(errors).toEqual([new Error('no')])
})

test('the back-off of a key that was added during its failed run ends in a second run', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  queue.add('a')
  queue.finish(
    { as: 'retry', key: 'a', token, delayMs: 0, plan },
    { outcome: 'ready', dueAt: 0, failures: 1 },
  )
  const second = queue.claim('a', { askedAt: 0 })
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([0, 2])
  await clock.step(500)
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([1, 3])
  queue.done('a', second, { outcome: 'ready', dueAt: 200 })
  queue.claim('a', { askedAt: 0 })
  expect(ledger.observations('q latency')).toEqual([0, 0, 0.3])
  expect(ledger.value('q adds')).toBe(3)
})

test('so does the delay that a handler asked for; an earlier second run stays', async () => {
  const { clock, ledger, queue } = setUp()
  const runAgain = (delayMs: number) => {
    const token = queue.claim('a', { askedAt: 0 })
    queue.add('a')
    queue.finish(
      { as: 'done', key: 'a', token, forget: true, again: { delayMs, priority: 0 } },
      { outcome: 'ready', dueAt: clock.now() },
    )
  }
  queue.add('a')
  runAgain(300)
  runAgain(800)
  queue.claim('a', { askedAt: 0 })
  await clock.step(500)
  queue.claim('a', { askedAt: 0 })
  expect(ledger.observations('q latency')).toEqual([0, 0, 0, 0.2])
})

test('there is no second run where runs are merged, or where only the store knows the delay', async () => {
  const { clock, ledger, queue } = setUp()
  const bucket = { kind: 'bucket', name: '', perSecond: 1, burst: 1 } as const
  for (const [key, limits, dedupe] of [
    ['a', plan, 'earliest'],
    ['b', { kind: 'maxOf', of: [plan, bucket] }, 'client-go'],
  ] as const) {
    queue.add(key)
    const token = queue.claim(key)
    queue.add(key)
    queue.finish(
      { as: 'retry', key, token, delayMs: 0, plan: limits },
      { outcome: 'ready', dueAt: 0, failures: 1 },
      dedupe,
    )
    queue.claim(key, { askedAt: 0 })
  }
  await clock.step(1_000)
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([0, 4])
})

test('a second run that has merged in the store by the time of a claim is not counted', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  // In the store it is due a moment earlier.
  queue.addAfter('a', 100, 'moved')
  await clock.step(99.9)
  const token = queue.claim('a', { askedAt: 0 })
  await clock.step(1_000)
  expect(ledger.value('q depth')).toBe(0)
  queue.done('a', token)
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([0, 1])
})

test('one that was ready at the finish is counted once, also if it is claimed at once', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  queue.addAfter('a', 100, 'moved')
  const token = queue.claim('a', { askedAt: 0 })
  await clock.step(99.9)
  queue.done('a', token, { outcome: 'ready', dueAt: 99.9 })
  queue.claim('a', { askedAt: 0 })
  await clock.step(1_000)
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([0, 2])
})

test('a delay that ends between an add in the store and its answer is one run with it', async () => {
  const { clock, ledger, queue } = setUp()
  queue.addAfter('a', 100)
  await clock.step(100)
  // In the store the add was a moment before the end of the delay.
  queue.ask({ key: 'a' }, { outcome: 'added', dueAt: 99.9 })
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([1, 1])
  queue.done('a', queue.claim('a', { askedAt: 0 }))
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([0, 1])
})

test('a key that is finished without another run is not in the depth', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  queue.addAfter('a', 100, 'moved')
  // Several milliseconds before its time here, the second run has merged in the store.
  await clock.step(95)
  const token = queue.claim('a', { askedAt: 0 })
  await clock.step(1_000)
  queue.done('a', token)
  expect(ledger.value('q depth')).toBe(0)
})
