import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import type { QueueCase } from './queue-case.ts'
import { watchPromise } from './queue-scene.ts'

/** Shutting down, draining and closing. */
export const endingCases: readonly QueueCase[] = [
  {
    id: 'q-shut.adds-refused',
    title: 'after shutDown, adds are rejected with a code, and nothing is stored',
    async run(s) {
      const queue = s.limited()
      await queue.add('before')
      await queue.shutDown()
      assert.equal(queue.shuttingDown, true)
      await s.refused(queue.add('a'), 'ERR_SHUT_DOWN')
      await s.refused(queue.addMany(['a']), 'ERR_SHUT_DOWN')
      await s.refused(queue.addAfter('a', 5), 'ERR_SHUT_DOWN')
      await s.refused(queue.addRateLimited('a'), 'ERR_SHUT_DOWN')
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'q-shut.due-first',
    title: 'after shutDown, get returns the items that were due, and then undefined, at once',
    async run(s) {
      const queue = s.delaying()
      await queue.addMany(['a', 'b'])
      await queue.addAfter('later', 10)
      await queue.shutDown()
      await s.step(50)
      assert.ok(await queue.get())
      assert.ok(await queue.get())
      assert.equal(await queue.get(), undefined)
      assert.deepEqual(await queue.getMany(5), [])
    },
  },
  {
    id: 'q-shut.waiters',
    title: 'shutDown ends every get that waits',
    async run(s) {
      const queue = s.queue()
      const waiting = [watchPromise(queue.get()), watchPromise(queue.get())]
      await s.quiet()
      await queue.shutDown()
      await s.quiet()
      for (const { state, value } of waiting)
        assert.deepEqual([state, value], ['resolved', undefined])
    },
  },
  {
    id: 'q-shut.give-back',
    title: 'after shutDown, held items can be finished in every way, also with a delay',
    async run(s) {
      const queue = s.limited()
      await queue.addMany(['a', 'b', 'c', 'd'])
      const helds = await queue.getMany(4)
      await queue.shutDown()
      const [a, b, c, d] = helds
      assert.ok(a && b && c && d)
      await s.refused(queue.add(a.item), 'ERR_SHUT_DOWN')
      await s.refused(queue.addMany([a.item]), 'ERR_SHUT_DOWN')
      assert.equal(await queue.addAfter(a.item, 1_000), 'added')
      assert.equal(await a.done(), 'delayed')
      assert.equal(await b.retry(new Error('why')), 'delayed')
      assert.equal(await c.release(), 'ready')
      assert.equal(await d.park(), 'parked')
    },
  },
  {
    id: 'q-shut.others',
    title: 'shutDown acts on one queue object, not on the store',
    async run(s) {
      const queue = s.queue()
      const other = s.queue()
      await queue.shutDown()
      assert.equal(other.shuttingDown, false)
      await other.add('a')
      await s.take(other)
    },
  },
  {
    id: 'q-drain.waits',
    title: 'a drain waits for due and held items, and not for delayed ones',
    async run(s) {
      const queue = s.delaying()
      await queue.addMany(['a', 'b'])
      await queue.addAfter('later', 100_000)
      const held = await s.take(queue)
      const draining = watchPromise(queue.shutDownWithDrain())
      await s.quiet()
      assert.equal(draining.state, 'waiting')
      await held.done()
      await s.quiet()
      assert.equal(draining.state, 'waiting')
      const last = await s.take(queue)
      await s.quiet()
      assert.equal(draining.state, 'waiting')
      await last.done()
      await s.settled(draining)
      assert.equal(draining.state, 'resolved')
      assert.equal(await queue.get(), undefined)
    },
  },
  {
    id: 'q-drain.several',
    title: 'several drains end together, and a shutDown ends them',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      const held = await s.take(queue)
      const draining = [
        watchPromise(queue.shutDownWithDrain()),
        watchPromise(queue.shutDownWithDrain()),
      ]
      await s.quiet()
      assert.deepEqual(
        draining.map(({ state }) => state),
        ['waiting', 'waiting'],
      )
      await queue.shutDown()
      await s.quiet()
      assert.deepEqual(
        draining.map(({ state }) => state),
        ['resolved', 'resolved'],
      )
      await held.done()
    },
  },
  {
    id: 'q-drain.abandoned',
    title: 'an aborted drain rejects, and the queue stays shut down',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      const held = await s.take(queue)
      const abort = new AbortController()
      const draining = watchPromise(queue.shutDownWithDrain({ signal: abort.signal }))
      await s.quiet()
      abort.abort(new Error('enough'))
      await s.quiet()
      assert.equal(draining.state, 'rejected')
      assert.equal(queue.shuttingDown, true)
      await held.done()
    },
  },
  {
    id: 'q-close.refuses',
    title:
      'after close, get returns undefined, finishing returns lost, and every other call is rejected',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      const held = await s.take(queue)
      await s.soon(queue.close())
      assert.equal(await queue.get(), undefined)
      assert.equal(await held.done(), 'lost')
      await s.refused(queue.add('b'), 'ERR_CLOSED')
      await s.refused(queue.len(), 'ERR_CLOSED')
      await s.refused(queue.forget('a'), 'ERR_CLOSED')
    },
  },
  {
    id: 'q-close.aborts',
    title: 'close aborts the signals of held items, with a reason',
    async run(s) {
      const queue = s.queue({ leaseMs: 30_000 })
      await queue.add('a')
      const held = await s.take(queue)
      await s.soon(queue.close())
      assert.equal(held.signal.aborted, true)
      assert.ok(SluiceError.is(held.signal.reason, 'ERR_CLOSING'))
    },
  },
  {
    id: 'q-close.twice',
    title: 'close can be called again, also concurrently',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      await s.soon(Promise.all([queue.close(), queue.close(), queue[Symbol.asyncDispose]()]))
      await s.soon(queue.close())
    },
  },
  {
    id: 'q-close.unused',
    title: 'a queue that was never used can be closed',
    async run(s) {
      await s.soon(s.queue().close())
    },
  },
  {
    id: 'q-close.waiters',
    title: 'close ends every get that waits',
    async run(s) {
      const queue = s.queue()
      const waiting = watchPromise(queue.get())
      await s.quiet()
      await s.soon(queue.close())
      assert.deepEqual([waiting.state, waiting.value], ['resolved', undefined])
    },
  },
  {
    id: 'q-close.others',
    title: 'the driver stays open for the other queues on it',
    async run(s) {
      const queue = s.queue()
      const other = s.queue({ name: 'other' })
      await queue.add('a')
      await other.add('b')
      await s.soon(queue.close())
      assert.equal(s.calls('close'), 1, 'the one before the queues began')
      await s.take(other)
    },
  },
  {
    id: 'q-close.reopens',
    title: 'a driver whose last queue was closed serves a queue that is created later',
    needs: { durable: true },
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      await s.soon(queue.close())
      const held = await s.take(s.queue())
      assert.equal(held.item, 'a')
    },
  },
]
