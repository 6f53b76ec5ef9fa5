import assert from 'node:assert/strict'
import type { Driver } from '@sluice/core'
import { Chance } from '../histories/chance.ts'
import { type Faults, faulty } from '../wrappers/faulty.ts'
import type { QueueCase } from './queue-case.ts'
import type { Parts } from './queue-scene.ts'
import { type QueueScene, watchPromise } from './queue-scene.ts'

/** Faults that can be turned on and off. */
interface Trouble {
  readonly driver: Driver
  /** Only these faults from now on; none turns all off. */
  now(faults?: Faults): void
}

function troubled(s: QueueScene): Trouble {
  let current: Faults = {}
  const at = (name: keyof Faults): number => current[name] ?? 0
  const faults: Faults = {
    get refused() {
      return at('refused')
    },
    get replyLost() {
      return at('replyLost')
    },
    get callLost() {
      return at('callLost')
    },
  }
  return {
    driver: faulty(s.driver, faults, { chance: new Chance(1) }),
    now(next = {}) {
      current = next
    },
  }
}

const usual: Parts = { leaseMs: 30_000 }

/** Stores that fail, or whose answers are lost. */
export const storeErrorCases: readonly QueueCase[] = [
  {
    id: 'q-errors.get-waits',
    title: 'get waits while the store is busy, and then takes an item',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      trouble.now({ refused: 1 })
      const waiting = watchPromise(queue.get())
      await s.step(5_000)
      assert.equal(waiting.state, 'waiting')
      trouble.now()
      // A failing store is called again in real time, whatever the clock.
      await s.settled(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-errors.add-refused',
    title: 'an add that the store rejects permanently is rejected, and leaves nothing',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      trouble.now({ refused: 1 })
      const adding = watchPromise(queue.add('b'))
      await s.step(1_000)
      trouble.now()
      // The queue decides whether and how long it retries; but the call has to end.
      await s.settled(adding)
      const isThere = (await s.state('b')) !== 'gone'
      assert.equal(isThere, adding.state === 'resolved')
    },
  },
  {
    id: 'q-errors.done-unknown',
    title: 'a done whose answer is lost is repeated, and accepted once',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      const held = await s.take(queue)
      trouble.now({ replyLost: 1 })
      const ending = watchPromise(held.done())
      await s.quiet()
      trouble.now()
      await s.settled(ending)
      assert.equal(ending.state, 'resolved')
      assert.notEqual(ending.value, 'lost')
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'q-errors.retry-once',
    title: 'a retry whose answer is lost never counts its failure twice',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.limited({ ...usual, driver: trouble.driver })
      await queue.add('a')
      const held = await s.take(queue)
      trouble.now({ replyLost: 1 })
      const ending = watchPromise(held.retry(new Error('why')))
      await s.quiet()
      trouble.now()
      await s.settled(ending)
      assert.equal(await queue.numRequeues('a'), 1)
    },
  },
  {
    id: 'q-errors.claim-unknown',
    title: 'a claim whose answer is lost blocks no key for longer than its lease',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      trouble.now({ replyLost: 1 })
      const waiting = watchPromise(queue.get())
      await s.quiet()
      trouble.now()
      // The lease ends half a minute later, which is too far for small steps on a slow machine.
      await s.until(() => waiting.state !== 'waiting', 250)
      assert.equal(waiting.value?.item, 'a')
      assert.equal(await waiting.value?.done(), 'idle')
    },
  },
  {
    id: 'q-errors.soon',
    title: 'addSoon is retried until the add is stored',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      trouble.now({ refused: 1 })
      queue.addSoon('b')
      await s.step(1_000)
      trouble.now()
      await s.until(async () => (await s.state('b')) === 'ready')
    },
  },
  {
    id: 'q-errors.renewal-lost',
    title: 'renewals that fail for a while lose no lease that has not expired',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      const held = await s.take(queue)
      trouble.now({ refused: 1 })
      await s.step(15_000)
      trouble.now()
      // A failing store is called again in real time, whatever the clock.
      await s.until(async () => {
        const { rows } = await s.driver.list('q', { keys: ['a'], limit: 1 })
        return rows[0]?.leaseUntil === s.clock.now() + 30_000
      }, 0)
      await s.step(60_000)
      assert.equal(held.signal.aborted, false)
      assert.equal(await held.done(), 'idle')
    },
  },
  {
    id: 'q-errors.renewal-impossible',
    title: 'when no renewal succeeds, the signal is aborted before the lease expires',
    async run(s) {
      const trouble = troubled(s)
      const queue = s.queue({ ...usual, driver: trouble.driver })
      await queue.add('a')
      const held = await s.take(queue)
      trouble.now({ callLost: 1 })
      await s.step(30_000)
      assert.equal(held.signal.aborted, true)
      trouble.now()
    },
  },
  {
    id: 'q-within.commit',
    title: 'changes in a transaction through the queue commit with it',
    needs: { transact: true },
    async run(s) {
      const queue = s.limited(usual)
      await queue.add('a')
      const held = await s.take(queue)
      const { handle, commit } = await s.store.begin()
      const inside = queue.within(handle as object)
      await inside.add('b')
      await inside.addAfter('c', 1_000)
      await inside.done(held)
      await commit()
      await s.step(100)
      assert.equal(await s.state('a'), 'gone')
      assert.equal(await s.state('b'), 'ready')
      assert.equal(await s.state('c'), 'delayed')
    },
  },
  {
    id: 'q-within.rollback',
    title: 'changes in a transaction through the queue are rolled back with it',
    needs: { transact: true },
    async run(s) {
      const queue = s.limited(usual)
      await queue.add('a')
      const held = await s.take(queue)
      const { handle, rollback } = await s.store.begin()
      const inside = queue.within(handle as object)
      await inside.add('b')
      await inside.done(held)
      await rollback()
      // What is written outside of the transaction may come later.
      await s.step(100)
      assert.equal(await s.state('b'), 'gone')
      assert.equal(await s.state('a'), 'processing')
      const ending = watchPromise(held.done())
      await s.settled(ending)
      assert.equal(ending.value, 'idle')
    },
  },
]
