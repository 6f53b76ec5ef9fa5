import { expect, test } from 'vitest'
import { SharedStore, StagedQueue, stage, storeDriver, throwingAtAdds } from './stage.ts'

function setUp() {
  const scene = stage()
  return { ...scene, queue: new StagedQueue(scene.clock, storeDriver(scene.clock)) }
}

test('what client-go measures of one key, to the digit', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('foo')
  expect(ledger.value('q adds')).toBe(1)
  expect(ledger.value('q depth')).toBe(1)
  await clock.step(0.05)

  const first = queue.claim('foo')
  expect(ledger.observations('q latency')).toEqual([5e-5])
  expect(ledger.value('q depth')).toBe(0)

  // Asked for again while it is worked on: once, however often.
  queue.add('foo')
  for (let n = 0; n < 4; n += 1) queue.add('foo', 'unchanged')
  expect(ledger.value('q adds')).toBe(2)
  expect(ledger.value('q depth')).toBe(1)
  expect(ledger.value('q deduplicated')).toBe(4)
  await clock.step(0.025)

  queue.done('foo', first, { outcome: 'ready', dueAt: 0.05 })
  expect(ledger.observations('q work')).toEqual([2.5e-5])
  expect(ledger.value('q depth')).toBe(1)

  const second = queue.claim('foo')
  // Measured from the add, so the rest of the run before it is part of it.
  expect(ledger.observations('q latency')).toEqual([5e-5, 2.5e-5])
  expect(ledger.value('q unfinished')).toBe(0)
  await clock.step(499.925)
  expect(ledger.value('q unfinished')).toBe(0.499925)
  expect(ledger.value('q longest')).toBe(0.499925)

  queue.done('foo', second)
  expect(ledger.observations('q work')).toEqual([2.5e-5, 0.499925])
  // They stand until the next refresh.
  expect(ledger.value('q unfinished')).toBe(0.499925)
  await clock.step(500)
  expect(ledger.value('q unfinished')).toBe(0)
  expect(ledger.value('q longest')).toBe(0)
})

test('giving back what was not taken is measured by nobody', () => {
  const { ledger, queue } = setUp()
  queue.done('foo', 77)
  expect(ledger.observations('q work')).toEqual([])
})

test('a key added while it is worked on waits from that add', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  queue.add('a')
  await clock.step(3_000)
  queue.done('a', token, { outcome: 'ready', dueAt: 0 })
  queue.claim('a')
  expect(ledger.observations('q latency')).toEqual([0, 3])
})

test('unfinished is the sum of the ages, longest the greatest', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  queue.claim('a')
  await clock.step(1_000)
  queue.add('b')
  queue.claim('b')
  await clock.step(1_000)
  expect(ledger.value('q unfinished')).toBe(3)
  expect(ledger.value('q longest')).toBe(2)
})

test('the refreshed gauges stand still from the shutdown on', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  queue.claim('a')
  await clock.step(500)
  expect(ledger.value('q unfinished')).toBe(0.5)
  queue.notice('shut-down')
  await clock.step(3_600_000)
  expect(ledger.value('q unfinished')).toBe(0.5)
  expect(clock.waiters()).toBe(0)
  // Another queue object goes on, and so does the refreshing.
  new StagedQueue(clock, queue.driver, 'q', 'another').add('b')
  await clock.step(500)
  expect(ledger.value('q longest')).toBe(3_601)
})

test('a queue that is closed works on nothing', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  queue.add('b')
  queue.claim('a')
  await clock.step(500)
  queue.notice('shut-down')
  queue.notice('closed')
  expect(ledger.value('q unfinished')).toBe(0)
  expect(ledger.value('q longest')).toBe(0)
  expect(ledger.value('q depth')).toBe(0)
})

test('events of a queue that arrive after it was closed do not bring it back', async () => {
  const { clock, ledger, queue } = setUp()
  queue.notice('worker-started', { concurrency: 2 })
  queue.add('a')
  const end = queue.run(queue.claim('a'), 2)
  queue.notice('closed')
  end({ result: 'success' })
  queue.notice('worker-stopped', { concurrency: 2 })
  queue.notice('lease-lost', { key: 'a', token: 1 })
  await clock.step(500)
  expect(clock.waiters()).toBe(0)
  expect(ledger.value('q run max')).toBe(0)
  expect(ledger.value('q run active')).toBe(0)
})

test('beside a worker, a wait ends with the handler or the finish, and a release ends none', async () => {
  const { clock, ledger, queue } = setUp()
  queue.notice('worker-started', { concurrency: 1 })
  queue.add('a')
  await clock.step(1_000)
  const early = queue.claim('a')
  await clock.step(1_000)
  queue.finish({ as: 'release', key: 'a', token: early }, { outcome: 'ready', dueAt: 0 })
  expect(ledger.observations('q latency')).toEqual([])
  expect(ledger.observations('q work')).toEqual([])
  const token = queue.claim('a')
  await clock.step(1_000)
  queue.run(token, 1)({ result: 'success' })
  queue.done('a', token)
  expect(ledger.observations('q latency')).toEqual([3])
  // One that `get` has handed out has no run.
  queue.add('b')
  await clock.step(500)
  const got = queue.claim('b')
  await clock.step(1_000)
  queue.done('b', got)
  expect(ledger.observations('q latency')).toEqual([3, 0.5])
})

test('a claim that is answered after the worker has stopped ends no wait: its keys are released', async () => {
  const { clock, ledger, queue } = setUp()
  queue.notice('worker-started', { concurrency: 1 })
  queue.add('a')
  await clock.step(1_000)
  queue.notice('worker-stopped', { concurrency: 1 })
  const token = queue.claim('a')
  queue.finish({ as: 'release', key: 'a', token }, { outcome: 'ready', dueAt: 0 })
  expect(ledger.observations('q latency')).toEqual([])
  const next = queue.claim('a')
  await clock.step(1_000)
  queue.done('a', next)
  expect(ledger.observations('q latency')).toEqual([1])
})

test('a queue without a name has no metrics and no refresh', async () => {
  const { clock, ledger, queue } = setUp()
  new StagedQueue(clock, queue.driver, '').add('a')
  expect(ledger.values.size).toBe(0)
  expect(clock.waiters()).toBe(0)
})

test('every addAfter, addRateLimited and retry counts, whatever its delay', () => {
  const { ledger, queue } = setUp()
  queue.add('a')
  queue.addAfter('a', 1_000)
  queue.addAfter('a', 5_000, 'unchanged')
  queue.addAfter('a', 0, 'unchanged')
  queue.ask({ key: 'a', failed: true }, { plannedMs: 0, outcome: 'unchanged' })
  expect(ledger.value('q retries')).toBe(4)
  const token = queue.claim('a')
  queue.finish({ as: 'retry', key: 'a', token, delayMs: 5 }, { outcome: 'delayed', dueAt: 5 })
  expect(ledger.value('q retries')).toBe(5)
  expect(ledger.value('q adds')).toBe(1)
})

test('two recorders never take the events from each other', () => {
  const { ledger, queue } = setUp()
  const other = stage()
  queue.add('a')
  expect(ledger.value('q adds')).toBe(1)
  expect(other.ledger.value('q adds')).toBe(1)
})

test('a provider that throws is reported, and the queue goes on', () => {
  const errors: unknown[] = []
  const { clock, ledger } = stage()
  stage({
    provider: throwingAtAdds(ledger.provider()),
    onError: (error) => errors.push(error),
  })
  new StagedQueue(clock, storeDriver(clock)).add('a')
  expect(errors).toHaveLength(1)
  expect(ledger.value('q depth')).toBe(1)
})

test('a key that becomes due by time is counted in at that moment', async () => {
  const { clock, ledger, queue } = setUp()
  queue.addAfter('later', 700)
  expect(ledger.value('q adds')).toBe(0)
  expect(ledger.value('q depth')).toBe(0)
  await clock.step(500)
  expect(ledger.value('q depth')).toBe(0)
  await clock.step(500)
  expect(ledger.value('q depth')).toBe(1)
  expect(ledger.value('q adds')).toBe(1)
  await clock.step(200)
  queue.claim('later', { askedAt: 0 })
  expect(ledger.observations('q latency')).toEqual([0.5])
  expect(ledger.value('q depth')).toBe(0)
})

test('one that is claimed before the next refresh is counted by the process that claims it', async () => {
  const { clock, ledger, queue } = setUp()
  queue.addAfter('later', 100)
  await clock.step(150)
  queue.claim('later', { askedAt: 0 })
  expect(ledger.value('q adds')).toBe(1)
  expect(ledger.value('q depth')).toBe(0)
  expect(ledger.observations('q latency')).toEqual([0.05])
  await clock.step(1_000)
  expect(ledger.value('q depth')).toBe(0)
})

test('one that is found after the answer of its claim was lost is counted out', () => {
  const { ledger, queue } = setUp()
  queue.add('a')
  queue.adopt('a', { askedAt: 0, readyAt: 0 })
  expect([ledger.value('q adds'), ledger.value('q depth')]).toEqual([1, 0])
})

test('an add and a delayed add are two promises, each counted when its time comes', async () => {
  const { clock, ledger, queue } = setUp()
  queue.addAfter('a', 1_000)
  queue.ask({ key: 'a' }, { outcome: 'added' })
  expect(ledger.value('q adds')).toBe(1)
  const token = queue.claim('a', { askedAt: 0 })
  queue.done('a', token, { outcome: 'delayed', dueAt: 1_000 })
  await clock.step(1_000)
  expect(ledger.value('q adds')).toBe(2)
  expect(ledger.value('q depth')).toBe(1)
})

test('a failed run is counted in again when its back-off is over', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  const plan = { kind: 'exponential', baseMs: 100, maxMs: 1_000 } as const
  queue.finish(
    { as: 'retry', key: 'a', token, delayMs: 0, plan },
    { outcome: 'delayed', dueAt: 200, failures: 2 },
  )
  expect(ledger.observations('q limiter')).toEqual([0.2])
  await clock.step(500)
  expect(ledger.value('q adds')).toBe(2)
  expect(ledger.value('q depth')).toBe(1)
})

test('a released key is ready again, and was added only once', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  await clock.step(100)
  const token = queue.claim('a')
  queue.finish({ as: 'release', key: 'a', token }, { outcome: 'ready', dueAt: 0 })
  expect(ledger.value('q depth')).toBe(1)
  await clock.step(100)
  queue.claim('a')
  expect(ledger.value('q adds')).toBe(1)
  expect(ledger.observations('q latency')).toEqual([0.1, 0.2])
})

test('cancelled, parked, removed and purged keys leave the depth', () => {
  const { ledger, queue } = setUp()
  for (const key of ['a', 'b', 'c', 'd', 'e']) queue.add(key)
  queue.publish('cancel', { keys: ['a', 'x'] }, ['cancelled', 'unchanged'])
  queue.publish('operate', { verb: 'park', keys: ['b'] }, ['changed'])
  queue.publish('operate', { verb: 'remove', keys: ['c', 'd'] }, ['changed', 'missing'])
  expect(ledger.value('q depth')).toBe(2)
  queue.publish('operate', { verb: 'purge' }, 2)
  expect(ledger.value('q depth')).toBe(0)
  queue.addAfter('f', 1_000)
  queue.publish('operate', { verb: 'runNow', keys: ['f'] }, ['changed'])
  expect(ledger.value('q depth')).toBe(1)
  expect(ledger.value('q adds')).toBe(6)
})

test('a lease that is lost is not waited for any more, and an ended one is counted once', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  queue.publish('expire', { leases: [{ key: 'a', token }] }, ['expired'])
  queue.publish('expire', { leases: [{ key: 'a', token }] }, ['lost'])
  queue.add('b')
  queue.notice('lease-lost', { key: 'b', token: queue.claim('b') })
  await clock.step(500)
  expect(ledger.value('q unfinished')).toBe(0)
  expect(ledger.value('q expirations')).toBe(1)
})

test('adds that travelled along with others are counted as what they were', () => {
  const { ledger, queue } = setUp()
  queue.ask({ key: 'a' }, { outcome: 'added' }, 3)
  expect(ledger.value('q deduplicated')).toBe(3)
})

test('keys that were added before the metrics subscribed are counted when they are claimed, and never below 0', () => {
  const { ledger, queue } = setUp()
  queue.claim('old')
  expect(ledger.value('q depth')).toBe(0)
  expect(ledger.value('q adds')).toBe(1)
})

test('queues of one name on two stores do not mix up their keys', () => {
  const { clock, ledger, queue } = setUp()
  const other = new StagedQueue(clock, storeDriver(clock), 'q', 'there')
  queue.add('a')
  other.add('a')
  expect(ledger.value('q depth')).toBe(2)
  queue.claim('a')
  expect(ledger.value('q depth')).toBe(1)
})

test('only the named queues of the given driver are recorded', () => {
  const { clock } = stage()
  const driver = storeDriver(clock)
  const { ledger } = stage({ driver, queues: ['q'] })
  new StagedQueue(clock, driver, 'other').add('a')
  new StagedQueue(clock, storeDriver(clock), 'q').add('a')
  expect(ledger.value('q adds')).toBe(0)
  expect(ledger.value('other adds')).toBeUndefined()
  new StagedQueue(clock, driver, 'q').add('a')
  expect(ledger.value('q adds')).toBe(1)
})

test('the runs of handlers, as controller-runtime counts them', async () => {
  const { clock, ledger, queue } = setUp()
  queue.notice('worker-started', { concurrency: 4 })
  queue.notice('worker-started', { concurrency: 2 })
  expect(ledger.value('q run max')).toBe(6)
  queue.notice('worker-stopped', { concurrency: 2 })
  expect(ledger.value('q run max')).toBe(4)
  const first = queue.run(1, 4)
  const second = queue.run(2, 4)
  expect(ledger.value('q run active')).toBe(2)
  await clock.step(1_500)
  first({ result: 'success' })
  second({ result: 'error', isTerminal: true, isTimedOut: true })
  queue.run(3, 4)({ result: 'requeue_after' })
  expect(ledger.value('q run active')).toBe(0)
  expect(ledger.value('q run success')).toBe(1)
  expect(ledger.value('q run error')).toBe(1)
  expect(ledger.value('q run requeue_after')).toBe(1)
  expect(ledger.value('q run errors')).toBe(1)
  expect(ledger.value('q run terminal')).toBe(1)
  expect(ledger.value('q run timeouts')).toBe(1)
  expect(ledger.observations('q run time')).toEqual([1.5, 1.5, 0])
  queue.notice('worker-stopped', { concurrency: 4 })
  expect(ledger.value('q run max')).toBe(0)
})

test('a worker works on a key from the call of its handler until the handler returns', async () => {
  const { clock, ledger, queue } = setUp()
  queue.add('a')
  const token = queue.claim('a')
  await clock.step(1_000)
  const end = queue.run(token, 1)
  await clock.step(2_000)
  expect([ledger.value('q unfinished'), ledger.value('q longest')]).toEqual([2, 2])
  end({})
  expect(ledger.observations('q work')).toEqual([2])
  await clock.step(3_000)
  expect([ledger.value('q unfinished'), ledger.value('q longest')]).toEqual([0, 0])
  queue.done('a', token)
  expect(ledger.observations('q work')).toEqual([2])
})

test('on a store that others use too, a claim says what happened elsewhere', async () => {
  const { clock, ledger } = stage()
  const driver = storeDriver(clock, new SharedStore(), { shared: true, durable: true })
  const queue = new StagedQueue(clock, driver)
  await clock.step(1_000)
  // Added by another process, which counted it.
  queue.claim('theirs', { askedAt: 400, readyAt: 400 })
  expect(ledger.value('q adds')).toBe(0)
  expect(ledger.observations('q latency')).toEqual([0.6])
  // Due by time: nobody has counted it yet.
  const token = queue.claim('due', { askedAt: 0, readyAt: 900 })
  expect(ledger.value('q adds')).toBe(1)
  expect(ledger.observations('q latency')).toEqual([0.6, 0.1])
  // Asked for again by another process while it was worked on here.
  await clock.step(1_000)
  queue.done('due', token, { outcome: 'ready', dueAt: 1_500 })
  queue.claim('due', { askedAt: 1_500, readyAt: 2_000 })
  expect(ledger.value('q adds')).toBe(1)
  expect(ledger.observations('q latency').at(-1)).toBe(0.5)
  // Added here; taken elsewhere, added there, and taken here.
  queue.add('ours')
  await clock.step(1_000)
  queue.claim('ours', { askedAt: 2_900, readyAt: 2_900 })
  expect(ledger.value('q adds')).toBe(2)
  expect(ledger.observations('q latency').at(-1)).toBe(0.1)
  // Its depth is the store's to say.
  expect(ledger.value('q depth')).toBe(0)
})

test('a queue object that is closed takes nothing from another one of its queue', async () => {
  const { clock, ledger } = stage()
  const driver = storeDriver(clock)
  const producer = new StagedQueue(clock, driver, 'q', 'producer')
  const consumer = new StagedQueue(clock, driver, 'q', 'consumer')
  producer.add('a')
  producer.add('b')
  const token = consumer.claim('a')
  producer.notice('closed')
  expect(ledger.value('q depth')).toBe(1)
  await clock.step(2_000)
  consumer.done('a', token)
  expect(ledger.observations('q work')).toEqual([2])
  consumer.claim('b')
  expect(ledger.observations('q latency')).toEqual([0, 2])
  expect(ledger.value('q depth')).toBe(0)
})

test('what a store has not taken is not counted as added', () => {
  const { ledger, queue } = setUp()
  queue.ask({ key: 'a' }, { outcome: 'full' })
  queue.ask({ key: 'b', delayMs: 50 }, { outcome: 'full' })
  for (const name of ['adds', 'depth', 'retries', 'deduplicated', 'delay']) {
    expect(ledger.value(`q ${name}`), name).toBe(0)
  }
})

test('a run that asks for another one later counts as a retry, as an addAfter does', () => {
  const { ledger, queue } = setUp()
  for (const [delayMs, retries] of [
    [50, 1],
    [0, 1],
  ] as const) {
    queue.add('a')
    const token = queue.claim('a')
    const again = { delayMs, priority: 0 }
    const outcome = delayMs > 0 ? 'delayed' : 'ready'
    queue.finish({ as: 'done', key: 'a', token, forget: true, again }, { outcome, dueAt: delayMs })
    expect(ledger.value('q retries')).toBe(retries)
  }
})

test('an add that brings a delayed key forward, by the rule of one run, leaves nothing for later', async () => {
  const { clock, ledger, queue } = setUp()
  queue.ask({ key: 'a', delayMs: 1_000 }, { dueAt: 1_000 }, 0, 'earliest')
  queue.ask({ key: 'a' }, { outcome: 'moved' }, 0, 'earliest')
  expect(ledger.value('q depth')).toBe(1)
  const token = queue.claim('a')
  // While it is held: its finish says that nothing is pending.
  await clock.step(5_000)
  expect([ledger.value('q depth'), ledger.value('q adds')]).toEqual([0, 1])
  queue.done('a', token)
  expect(ledger.value('q depth')).toBe(0)
})
