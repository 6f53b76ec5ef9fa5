import assert from 'node:assert/strict'
import { Chance } from '../histories/chance.ts'
import { faulty } from '../wrappers/faulty.ts'
import type { QueueCase } from './queue-case.ts'
import { watchPromise } from './queue-scene.ts'

/** Waiters are woken, and an idle waiter makes almost no calls. */
export const wakingCases: readonly QueueCase[] = [
  {
    id: 'q-wake.same-queue',
    title: 'an add wakes a waiter on the same queue object',
    async run(s) {
      const queue = s.queue()
      const waiting = watchPromise(queue.get())
      await s.quiet()
      await queue.add('a')
      await s.quiet()
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.same-process',
    title: 'an add wakes a waiter on another queue object of the same name',
    async run(s) {
      const waiting = watchPromise(s.queue().get())
      await s.quiet()
      await s.queue().add('a')
      await s.quiet()
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.other-process',
    title: 'an add in another process wakes a waiter',
    needs: { watch: true, peers: true },
    async run(s) {
      const waiting = watchPromise(s.queue().get())
      await s.quiet()
      const theirs = s.queue({ driver: await s.peerDriver() })
      await theirs.add('a')
      await s.woken(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.other-process.done',
    title: 'a key that another process finishes while dirty wakes a waiter',
    needs: { peers: true },
    async run(s) {
      const queue = s.queue()
      const theirs = s.queue({ driver: await s.peerDriver() })
      await queue.add('a')
      const held = await s.take(theirs)
      const waiting = watchPromise(queue.get())
      await queue.add('a')
      await held.done()
      await s.woken(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.delayed',
    title: 'a key that was delayed while it was held wakes a waiter on time once it is given back',
    async run(s) {
      const queue = s.delaying()
      await queue.add('a')
      const held = await s.take(queue)
      const waiting = watchPromise(queue.get())
      await queue.addAfter('a', 50)
      assert.equal(await held.done(), 'delayed')
      await s.step(50)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.resume',
    title: 'resuming a queue wakes its waiters',
    needs: { watch: true, operate: true },
    async run(s) {
      const queue = s.queue()
      await queue.add('b')
      await (await s.take(queue)).done()
      await s.driver.operate?.pause('q')
      await queue.add('a')
      await s.takeNothing(queue)
      const waiting = watchPromise(queue.get())
      await s.quiet()
      await s.driver.operate?.resume('q')
      await s.woken(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.lost',
    title: 'a waiter is woken within ten seconds even if every wake is lost',
    needs: { peers: true },
    async run(s) {
      const deaf = faulty(s.driver, { wakeLost: 1 }, { chance: new Chance(1) })
      const queue = s.queue({ driver: deaf })
      const theirs = s.queue({ driver: await s.peerDriver() })
      const waiting = watchPromise(queue.get())
      await s.quiet()
      await theirs.add('a')
      await s.step(10_000)
      await s.settled(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-wake.idle',
    title: 'an idle waiter calls the store at most once in ten seconds',
    async run(s) {
      const queue = s.queue({ leaseMs: 30_000 })
      await queue.add('b')
      await (await s.take(queue)).done()
      const waiting = watchPromise(queue.get())
      await s.step(20_000)
      const before = s.store.log.lines.length
      await s.step(100_000)
      const calls = s.store.log.lines.length - before
      assert.ok(calls <= 12, `${calls} calls in 100 seconds`)
      await queue.add('a')
      await s.quiet()
      assert.equal(waiting.state, 'resolved')
    },
  },
  {
    id: 'q-flush.one',
    title: 'one awaited add is one call to the store, and so is one done',
    async run(s) {
      const queue = s.queue({ leaseMs: 30_000 })
      await queue.add('a')
      const held = await s.take(queue)
      const adds = s.calls('add')
      const finishes = s.calls('finish')
      await queue.add('b')
      await held.done()
      assert.equal(s.calls('add') - adds, 1)
      assert.equal(s.calls('finish') - finishes, 1)
    },
  },
  {
    id: 'q-flush.thousand',
    title: 'a thousand adds at the same time travel in at most eight calls, each with its answer',
    async run(s) {
      const queue = s.queue({ leaseMs: 30_000 })
      await queue.add('warm')
      const before = s.calls('add')
      const adds = Array.from({ length: 1_000 }, (_, i) => queue.add(`k${i % 500}`))
      const outcomes = await Promise.all(adds)
      assert.ok(s.calls('add') - before <= 8, `${s.calls('add') - before} calls`)
      assert.equal(outcomes.filter((outcome) => outcome === 'added').length, 500)
      assert.equal(outcomes.filter((outcome) => outcome === 'unchanged').length, 500)
      assert.equal(await queue.len(), 501)
    },
  },
  {
    id: 'q-flush.soon',
    title: 'addSoon is stored without being waited for, and close waits for it',
    async run(s) {
      const queue = s.queue({ leaseMs: 30_000 })
      queue.addSoon('a')
      await s.quiet()
      assert.equal(await queue.len(), 1)
      queue.addSoon('b')
      await s.soon(queue.close())
      assert.equal(await s.queue().len(), 2)
    },
  },
  {
    id: 'q-flush.claims',
    title: 'no more keys are claimed than there are getters for',
    async run(s) {
      const queue = s.queue({ leaseMs: 30_000 })
      await queue.addMany(['a', 'b', 'c', 'd', 'e'])
      await Promise.all([s.take(queue), s.take(queue)])
      assert.equal(await queue.len(), 3)
      assert.equal(await s.queue({ leaseMs: 30_000 }).len(), 3)
    },
  },
]
