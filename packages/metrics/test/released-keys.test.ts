import { never } from '@sluice/core'
import { expect, test } from 'vitest'
import { SharedStore, StagedQueue, stage, storeDriver } from './stage.ts'

/** An operator takes the key from its holder. */
function release(queue: StagedQueue, key: string, token: number, outcome = 'ready'): void {
  const reply = { outcome, dueAt: outcome === 'ready' ? 0 : never, failures: 0 }
  queue.publish('operate', { verb: 'release', key, token }, [reply])
}

test('a key that an operator takes from its holder is ready again, and was added only once', async () => {
  const { clock, errors, ledger } = stage()
  const queue = new StagedQueue(clock, storeDriver(clock))
  queue.add('a')
  const token = queue.claim('a')
  await clock.step(500)
  expect(ledger.value('q unfinished')).toBe(0.5)
  release(queue, 'a', token)
  expect([ledger.value('q depth'), ledger.observations('q work')]).toEqual([1, [0.5]])
  await clock.step(500)
  expect(ledger.value('q unfinished')).toBe(0)
  queue.claim('a')
  queue.done('a', token, { outcome: 'lost' })
  expect([ledger.value('q adds'), ledger.value('q depth')]).toEqual([1, 0])
  expect(ledger.observations('q latency')).toEqual([0, 1])
  expect(ledger.observations('q work')).toEqual([0.5])
  expect(errors).toEqual([])
})

test('one that was finished meanwhile is not ready', () => {
  const { clock, errors, ledger } = stage()
  const queue = new StagedQueue(clock, storeDriver(clock))
  queue.add('a')
  const token = queue.claim('a')
  queue.done('a', token)
  release(queue, 'a', token, 'lost')
  expect([ledger.value('q depth'), errors]).toEqual([0, []])
})

test('on a store that others use too, a key that another process holds is measured from its store', async () => {
  const { clock, errors, ledger } = stage()
  const driver = storeDriver(clock, new SharedStore(), { shared: true, durable: true })
  const queue = new StagedQueue(clock, driver)
  queue.add('ours')
  const token = queue.claim('ours', { askedAt: 0, readyAt: 0 })
  await clock.step(1_000)
  release(queue, 'ours', token)
  release(queue, 'theirs', 77)
  expect(ledger.observations('q work')).toEqual([1])
  queue.claim('theirs', { askedAt: 400, readyAt: 400 })
  expect(ledger.observations('q latency')).toEqual([0, 0.6])
  expect([ledger.value('q depth'), errors]).toEqual([0, []])
})

test('the delay of a released key has ended where runs are merged, and goes on where they are not', async () => {
  const { clock, ledger } = stage()
  const queue = new StagedQueue(clock, storeDriver(clock))
  /** Adds a held key for later, and gives it back. */
  const giveBack = (key: string, dedupe: 'client-go' | 'earliest', as: string): void => {
    queue.ask({ key }, {}, 0, dedupe)
    const token = queue.claim(key)
    const laterAt = clock.now() + 1_000
    queue.ask({ key, delayMs: 1_000, maxWaitMs: undefined }, { dueAt: laterAt }, 0, dedupe)
    if (as === 'operator') release(queue, key, token)
    else if (as === 'park') {
      queue.finish({ as, key, token }, { outcome: 'parked', dueAt: 0 }, dedupe)
      queue.publish('operate', { verb: 'unpark', keys: [key] }, ['changed'])
    } else queue.finish({ as: 'release', key, token }, { outcome: 'ready', dueAt: 0 }, dedupe)
    const second = { outcome: 'delayed', dueAt: laterAt } as const
    queue.done(key, queue.claim(key, { askedAt: 0 }), dedupe === 'client-go' ? second : {})
  }
  for (const as of ['release', 'park', 'operator']) giveBack(`merged, ${as}`, 'earliest', as)
  await clock.step(1_000)
  expect(ledger.value('q depth')).toBe(0)
  for (const as of ['release', 'park', 'operator']) giveBack(`two, ${as}`, 'client-go', as)
  await clock.step(1_000)
  expect(ledger.value('q depth')).toBe(3)
})
