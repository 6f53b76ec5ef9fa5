import assert from 'node:assert/strict'
import type { QueueCase } from './queue-case.ts'
import { watchPromise } from './queue-scene.ts'

/** Iteration, scopes and workers. */
export const loopingCases: readonly QueueCase[] = [
  {
    id: 'q-loop.all',
    title: 'a loop takes item after item, and ends when the queue is shut down and empty',
    needs: { order: 'per-producer' },
    async run(s) {
      const queue = s.queue()
      await queue.addMany(['a', 'b', 'c'])
      const keys: string[] = []
      const loop = (async () => {
        for await (const held of queue) {
          keys.push(held.key)
          await held.done()
        }
      })()
      await s.quiet()
      assert.deepEqual(keys, ['a', 'b', 'c'])
      await queue.shutDown()
      await s.soon(loop)
    },
  },
  {
    id: 'q-loop.next-finishes-nothing',
    title: 'the next turn of a loop does not finish the item of the one before',
    async run(s) {
      const queue = s.queue()
      await queue.addMany(['a', 'b'])
      const loop = queue[Symbol.asyncIterator]()
      const first = await loop.next()
      const second = await loop.next()
      assert.notEqual(first.value?.key, second.value?.key)
      assert.equal(await s.state('a'), 'processing')
      assert.equal(await s.state('b'), 'processing')
    },
  },
  {
    id: 'q-loop.break',
    title: 'leaving a loop releases the last item, if it is unfinished, and no other',
    async run(s) {
      const queue = s.queue()
      await queue.addMany(['a', 'b'])
      const taken: string[] = []
      for await (const held of queue) {
        taken.push(held.key)
        if (taken.length === 2) break
      }
      const [first, last] = taken
      assert.ok(first && last)
      await s.quiet()
      assert.equal(await s.state(first), 'processing')
      assert.equal(await s.state(last), 'ready')
      assert.equal(await queue.add('c'), 'added', 'the queue stays open')
    },
  },
  {
    id: 'q-loop.detach',
    title: 'a detached item is not released when the loop ends',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      for await (const held of queue) {
        held.detach()
        break
      }
      await s.quiet()
      assert.equal(await s.state('a'), 'processing')
    },
  },
  {
    id: 'q-loop.throw',
    title: 'an error in a loop releases the last item and propagates',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      const error = new Error('in the loop')
      const loop = (async () => {
        for await (const held of queue) throw Object.assign(error, { key: held.key })
      })()
      await assert.rejects(s.soon(loop), error)
      await s.quiet()
      assert.equal(await s.state('a'), 'ready')
    },
  },
  {
    id: 'q-scope.plain',
    title: 'an unfinished item that goes out of scope is released by a queue without a limiter',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      const held = await s.take(queue)
      await held[Symbol.asyncDispose]()
      const row = await s.row('a')
      assert.deepEqual([row?.state, row?.failures], ['ready', 0])
    },
  },
  {
    id: 'q-scope.limited',
    title: 'on a rate-limiting queue, an item that goes out of scope without done has failed',
    async run(s) {
      const queue = s.limited()
      await queue.addMany(['a', 'b'])
      const [left, finished] = await queue.getMany(2)
      assert.ok(left && finished)
      await finished.done()
      await finished[Symbol.asyncDispose]()
      await left[Symbol.asyncDispose]()
      assert.equal((await s.row(left.key))?.failures, 1)
      assert.equal(await s.state(finished.key), 'gone')
    },
  },
  {
    id: 'q-worker.runs',
    title: 'a worker runs the handler for each item, and a finished item leaves no row',
    async run(s) {
      const queue = s.limited()
      await queue.addMany(['a', 'b', 'c'])
      const ran: string[] = []
      const worker = s.factories.createWorker<string>({
        queue,
        handler: (item) => {
          ran.push(item)
        },
      })
      await s.soon(worker.runUntilIdle())
      assert.deepEqual(ran.sort(), ['a', 'b', 'c'])
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'q-worker.retries',
    title: 'an item whose handler throws is retried after the back-off, and counts a failure',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      const failures: number[] = []
      const worker = s.factories.createWorker<string>({
        queue,
        onError() {},
        handler: (_, context) => {
          failures.push(context.failures)
          if (failures.length < 3) throw new Error('not yet')
        },
      })
      await s.quiet()
      assert.deepEqual(failures, [0])
      await s.step(1_000)
      assert.deepEqual(failures, [0, 1, 2])
      await s.soon(worker.stop())
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'q-worker.concurrency',
    title: 'a worker runs up to `concurrency` handlers at a time, and never one key twice',
    async run(s) {
      const queue = s.limited()
      await queue.addMany(['a', 'b', 'c', 'd', 'e'])
      let letGo = (): void => {}
      const gate = new Promise<void>((resolve) => {
        letGo = resolve
      })
      const running = new Map<string, number>()
      let most = 0
      let runs = 0
      const worker = s.factories.createWorker<string>({
        queue,
        concurrency: 3,
        handler: async (item) => {
          runs += 1
          running.set(item, (running.get(item) ?? 0) + 1)
          assert.equal(running.get(item), 1)
          most = Math.max(most, worker.running)
          if (runs <= 3) await queue.add('a')
          await gate
          running.delete(item)
        },
      })
      await s.quiet()
      assert.equal(worker.running, 3)
      letGo()
      await s.quiet()
      await s.soon(worker.stop())
      assert.equal(most, 3)
      assert.deepEqual(s.errors, [])
    },
  },
  {
    id: 'q-worker.exhausted',
    title: 'an item that has failed maxFailures times in a row is parked',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      let runs = 0
      const worker = s.factories.createWorker<string>({
        queue,
        maxFailures: 2,
        onError() {},
        handler: () => {
          runs += 1
          throw new Error('always')
        },
      })
      await s.step(60_000)
      assert.equal(runs, 2)
      assert.equal(await s.state('a'), 'parked')
      await s.soon(worker.stop())
    },
  },
  {
    id: 'q-worker.retry-after',
    title: 'an error with retryAfterMs counts as a failure, and its key is retried at that time',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      let runs = 0
      const worker = s.factories.createWorker<string>({
        queue,
        maxFailures: 2,
        onError() {},
        handler: () => {
          runs += 1
          throw Object.assign(new Error('busy'), { retryAfterMs: 30_000 })
        },
      })
      await s.step(29_999)
      assert.equal(runs, 1)
      const row = await s.row('a')
      assert.deepEqual([row?.state, row?.failures], ['backoff', 1])
      await s.step(1)
      assert.equal(runs, 2)
      assert.equal(await s.state('a'), 'parked')
      await s.soon(worker.stop())
    },
  },
  {
    id: 'q-worker.stops',
    title: 'a worker that is stopped waits for its handlers, and claims no more items',
    async run(s) {
      const queue = s.limited()
      await queue.addMany(['a', 'b'])
      let letGo = (): void => {}
      const gate = new Promise<void>((resolve) => {
        letGo = resolve
      })
      const worker = s.factories.createWorker<string>({ queue, handler: () => gate })
      await s.quiet()
      const stopping = watchPromise(worker.stop({ graceMs: 60_000 }))
      await s.quiet()
      assert.equal(stopping.state, 'waiting')
      letGo()
      await s.quiet()
      assert.equal(stopping.state, 'resolved')
      assert.equal(await queue.len(), 1)
    },
  },
]
