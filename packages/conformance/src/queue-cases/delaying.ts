import assert from 'node:assert/strict'
import type { QueueCase } from './queue-case.ts'
import { watchPromise } from './queue-scene.ts'

/** Delays and back-off, through the queue. */
export const delayingCases: readonly QueueCase[] = [
  {
    id: 'q-delay.on-time',
    title: 'a waiter gets a delayed item at the instant at which it is due, and not before',
    async run(s) {
      const queue = s.delaying()
      await queue.addAfter('a', 1_000)
      const waiting = watchPromise(queue.get())
      await s.step(999)
      assert.equal(waiting.state, 'waiting')
      await s.step(1)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-delay.sooner-while-waiting',
    title: 'a waiter for a later item is woken for a sooner one that is added in the meantime',
    async run(s) {
      const queue = s.delaying()
      await queue.addAfter('late', 5_000)
      const waiting = watchPromise(queue.get())
      await s.step(100)
      await queue.addAfter('soon', 50)
      await s.step(50)
      assert.equal(waiting.value?.item, 'soon')
    },
  },
  {
    id: 'q-delay.client-go',
    title: "under 'client-go', an add and a delayed add are two runs",
    async run(s) {
      const queue = s.delaying()
      await queue.addAfter('a', 1_000)
      assert.equal(await queue.add('a'), 'added')
      assert.equal(await (await s.take(queue)).done(), 'delayed')
      await s.step(1_000)
      assert.equal(await (await s.take(queue)).done(), 'idle')
    },
  },
  {
    id: 'q-delay.earliest',
    title: "under 'earliest', an add and a delayed add are one run",
    async run(s) {
      const queue = s.delaying({ dedupe: 'earliest' })
      await queue.addAfter('a', 1_000)
      assert.equal(await queue.add('a'), 'moved')
      assert.equal(await (await s.take(queue)).done(), 'idle')
      await s.step(1_000)
      await s.takeNothing(queue)
    },
  },
  {
    id: 'q-delay.latest',
    title: "with 'latest', a delayed item is postponed, up to maxWaitMs since it was first added",
    async run(s) {
      const queue = s.delaying()
      const latest = { when: 'latest', maxWaitMs: 250 } as const
      for (let i = 0; i < 4; i += 1) {
        await queue.addAfter('a', 100, latest)
        await s.step(60)
      }
      await s.takeNothing(queue)
      await s.step(10)
      await s.take(queue)
    },
  },
  {
    id: 'q-delay.none',
    title: 'a delay of zero or less is no delay',
    async run(s) {
      const queue = s.delaying()
      for (const ms of [0, -1, -0.5]) {
        await queue.addAfter('a', ms)
        await (await s.take(queue)).done()
      }
    },
  },
  {
    id: 'q-delay.held',
    title: 'an item that is delayed while it is held is handed out again after that delay',
    async run(s) {
      const queue = s.delaying()
      await queue.add('a')
      const held = await s.take(queue)
      await queue.addAfter('a', 500)
      assert.equal(await held.done(), 'delayed')
      const waiting = watchPromise(queue.get())
      await s.step(499)
      assert.equal(waiting.state, 'waiting')
      await s.step(1)
      assert.equal(waiting.state, 'resolved')
    },
  },
  {
    id: 'q-delay.week',
    title: 'a week of delay passes instantly on a fake clock',
    async run(s) {
      const queue = s.delaying()
      const week = 7 * 86_400_000
      await queue.addAfter('a', week)
      await s.clock.step(week)
      await s.take(queue)
    },
  },
  {
    id: 'q-limit.retry',
    title: 'a retry counts a failure, and waits twice as long each time',
    async run(s) {
      const limiter = {
        when: () => 0,
        forget() {},
        numRequeues: () => 0,
        plan: { kind: 'exponential', baseMs: 100, maxMs: 1_000 },
      }
      const queue = s.limited({ limiter })
      await queue.add('a')
      for (const [failures, ms] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
        const held = await s.take(queue)
        assert.equal(held.failures, failures)
        assert.equal(await held.retry(new Error('why')), 'delayed')
        await s.step(ms - 1)
        await s.takeNothing(queue)
        await s.step(1)
      }
      assert.equal(await queue.numRequeues('a'), 6)
    },
  },
  {
    id: 'q-limit.forget',
    title: 'done with forget, and forget, reset the back-off',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      await (await s.take(queue)).retry()
      assert.equal(await queue.numRequeues('a'), 1)
      await s.step(5)
      const held = await s.take(queue)
      assert.equal(held.failures, 1)
      await held.done({ forget: true })
      assert.equal(await queue.numRequeues('a'), 0)
      await queue.addRateLimited('a')
      assert.equal(await queue.numRequeues('a'), 1)
      assert.equal(await queue.forget('a'), 'forgotten')
      assert.equal(await queue.forget('a'), 'unchanged')
      assert.equal(await queue.numRequeues('a'), 0)
    },
  },
  {
    id: 'q-limit.add-rate-limited',
    title: 'addRateLimited counts a failure every time, and waits for the limiter',
    async run(s) {
      const queue = s.limited()
      assert.equal(await queue.addRateLimited('a'), 'added')
      assert.equal(await queue.addRateLimited('a'), 'unchanged')
      assert.equal(await queue.numRequeues('a'), 2)
      await s.takeNothing(queue)
      await s.step(5)
      assert.equal((await s.take(queue)).failures, 2)
    },
  },
  {
    id: 'q-limit.own',
    title: 'a custom limiter decides the delay in this process',
    async run(s) {
      const asked: unknown[] = []
      const limiter = {
        when(item: unknown) {
          asked.push(item)
          return 700
        },
        forget() {},
        numRequeues: () => 0,
      }
      const queue = s.limited({ limiter })
      await queue.addRateLimited('a')
      assert.deepEqual(asked, ['a'])
      await s.step(699)
      await s.takeNothing(queue)
      await s.step(1)
      await s.take(queue)
    },
  },
  {
    id: 'q-limit.own.broken',
    title: 'a limiter that throws or returns NaN means a delay of a second, and is reported',
    async run(s) {
      for (const [name, when] of [
        ['throws', () => assert.fail('broken')],
        ['nan', () => Number.NaN],
      ] as const) {
        const limiter = { when: when as () => number, forget() {}, numRequeues: () => 0 }
        const queue = s.limited({ name, limiter })
        await queue.addRateLimited('a')
        await s.step(999)
        await s.takeNothing(queue)
        await s.step(1)
        await s.take(queue)
      }
    },
  },
]
