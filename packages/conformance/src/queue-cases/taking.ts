import assert from 'node:assert/strict'
import type { QueueCase } from './queue-case.ts'
import { watchPromise } from './queue-scene.ts'

/** Adding, taking and finishing. */
export const takingCases: readonly QueueCase[] = [
  {
    id: 'q-take.once',
    title: 'an item that is added many times before it is handed out is handed out once',
    async run(s) {
      const queue = s.queue()
      assert.equal(await queue.add('a'), 'added')
      assert.equal(await queue.add('a'), 'unchanged')
      const held = await s.take(queue)
      assert.equal(held.item, 'a')
      assert.equal(held.key, 'a')
      assert.equal(await held.done(), 'idle')
      await s.takeNothing(queue)
    },
  },
  {
    id: 'q-take.dirty',
    title: 'an item that is added while it is held is handed out again after done, and not before',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      const held = await s.take(queue)
      const waiting = watchPromise(queue.get())
      assert.equal(await queue.add('a'), 'added')
      await queue.add('a')
      await s.quiet()
      assert.equal(waiting.state, 'waiting')
      assert.equal(await held.done(), 'ready')
      await s.quiet()
      assert.equal(waiting.value?.item, 'a')
      assert.equal(await waiting.value?.done(), 'idle')
      await s.takeNothing(queue)
    },
  },
  {
    id: 'q-take.order',
    title: 'items are handed out in the order in which they were added',
    needs: { order: 'per-producer' },
    async run(s) {
      const queue = s.queue()
      const adds = ['c', 'a', 'b'].map((item) => queue.add(item))
      await Promise.all(adds)
      await queue.addMany(['z', 'y', 'a', 'x'])
      assert.deepEqual(await s.drainKeys(queue), ['c', 'a', 'b', 'z', 'y', 'x'])
    },
  },
  {
    id: 'q-take.priority',
    title: 'items of a higher priority are handed out first',
    needs: { order: 'per-producer' },
    async run(s) {
      const queue = s.queue()
      await queue.add('low', { priority: -5 })
      await queue.add('usual')
      await queue.add('high', { priority: 5 })
      await queue.add('low', { priority: 1 })
      assert.deepEqual(await s.drainKeys(queue), ['high', 'low', 'usual'])
    },
  },
  {
    id: 'q-take.same-call-order',
    title: 'calls that are not awaited take effect in the order in which they were made',
    async run(s) {
      const queue = s.delaying()
      const answers = [
        queue.addAfter('a', 1_000),
        queue.cancel('a'),
        queue.add('a'),
        queue.add('a'),
        queue.cancel('a'),
        queue.cancel('a'),
      ]
      assert.deepEqual(await Promise.all(answers), [
        'added',
        'cancelled',
        'added',
        'unchanged',
        'cancelled',
        'unchanged',
      ])
      assert.equal(await s.state('a'), 'gone')
      await Promise.all([queue.addAfter('a', 1_000), queue.add('a'), queue.add('b')])
      const helds = await queue.getMany(2)
      assert.deepEqual(
        helds.map(({ key }) => key),
        ['a', 'b'],
      )
      await queue.doneMany(helds)
    },
  },
  {
    id: 'q-take.many',
    title: 'getMany waits for one item and returns at most as many as requested',
    async run(s) {
      const queue = s.queue()
      const waiting = watchPromise(queue.getMany(3))
      await s.quiet()
      assert.equal(waiting.state, 'waiting')
      await queue.add('a')
      await s.quiet()
      assert.deepEqual(
        waiting.value?.map(({ key }) => key),
        ['a'],
      )
      await queue.addMany(['b', 'c', 'd', 'e'])
      const helds = await queue.getMany(3)
      assert.equal(helds.length, 3)
      assert.deepEqual(await queue.doneMany(helds), ['idle', 'idle', 'idle'])
      assert.equal((await queue.getMany(3)).length, 1)
    },
  },
  {
    id: 'q-take.getters',
    title: 'one item wakes one waiter, and each waiter gets a different item',
    async run(s) {
      const queue = s.queue()
      const waiting = [
        watchPromise(queue.get()),
        watchPromise(queue.get()),
        watchPromise(queue.get()),
      ]
      await queue.addMany(['a', 'b'])
      await s.quiet()
      const states = waiting.map(({ state }) => state).sort()
      assert.deepEqual(states, ['resolved', 'resolved', 'waiting'])
      const keys = waiting.flatMap(({ value }) => (value === undefined ? [] : [value.key]))
      assert.deepEqual(keys.sort(), ['a', 'b'])
    },
  },
  {
    id: 'q-take.abandoned',
    title: 'an aborted get rejects with the reason, and takes nothing',
    async run(s) {
      const queue = s.queue()
      const abort = new AbortController()
      const waiting = watchPromise(queue.get({ signal: abort.signal }))
      await s.quiet()
      const reason = new Error('enough')
      abort.abort(reason)
      await s.quiet()
      assert.equal(waiting.error, reason)
      await queue.add('a')
      await s.take(queue)
    },
  },
  {
    id: 'q-take.done-by-item',
    title: 'done of an item ends the oldest run of its key that this queue object handed out',
    async run(s) {
      const queue = s.queue()
      await queue.add('a')
      const held = await s.take(queue)
      assert.equal(await queue.done('b'), 'lost')
      assert.equal(await queue.done('a'), 'idle')
      assert.equal(await held.done(), 'lost')
      assert.equal(await queue.done('a'), 'lost')
    },
  },
  {
    id: 'q-take.done-by-item.others',
    title: "done of an item never ends another queue object's run",
    async run(s) {
      const queue = s.queue()
      const other = s.queue()
      await queue.add('a')
      const held = await s.take(queue)
      assert.equal(await other.done('a'), 'lost')
      assert.equal(await s.state('a'), 'processing')
      assert.equal(await held.done(), 'idle')
    },
  },
  {
    id: 'q-take.done-once',
    title: 'a run ends once, however many finishes run concurrently',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      const held = await s.take(queue)
      const ends = [held.done(), held.retry(), held.release(), held.park(), held.done()]
      assert.deepEqual(await Promise.all(ends), ['idle', 'lost', 'lost', 'lost', 'lost'])
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'q-take.release',
    title: 'a released item can be taken again, and nothing is counted',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      const held = await s.take(queue)
      assert.equal(await held.release(), 'ready')
      const again = await s.take(queue)
      assert.equal(again.failures, 0)
      assert.ok(again.token > held.token)
      assert.equal(again.addedAt, held.addedAt)
    },
  },
  {
    id: 'q-take.park',
    title: 'a parked item is not handed out',
    async run(s) {
      const queue = s.limited()
      await queue.add('a')
      assert.equal(await (await s.take(queue)).park(new Error('bad')), 'parked')
      assert.equal(await queue.add('a'), 'parked')
      await s.step(60_000)
      await s.takeNothing(queue)
      assert.equal(await s.state('a'), 'parked')
    },
  },
  {
    id: 'q-take.cancel',
    title: 'cancel removes the pending run, and the holder continues',
    async run(s) {
      const queue = s.queue()
      await queue.addMany(['a', 'b'])
      assert.equal(await queue.cancel('b'), 'cancelled')
      const held = await s.take(queue)
      await queue.add('a')
      assert.equal(await queue.cancel('a'), 'cancelled')
      assert.equal(await held.done(), 'idle')
      await s.takeNothing(queue)
    },
  },
  {
    id: 'q-take.len',
    title: 'len counts ready items: not held, delayed or parked ones',
    async run(s) {
      const queue = s.delaying()
      assert.equal(await queue.len(), 0)
      await queue.addMany(['a', 'b', 'c'])
      await queue.addAfter('d', 100)
      assert.equal(await queue.len(), 3)
      const held = await s.take(queue)
      assert.equal(await queue.len(), 2)
      await held.park()
      assert.equal(await queue.len(), 2)
      await s.step(100)
      assert.equal(await queue.len(), 3)
    },
  },
  {
    id: 'q-take.max-pending',
    title: 'with maxPending reached, adds of new keys reject, and other adds are accepted',
    async run(s) {
      const queue = s.queue({ maxPending: 2 })
      await queue.addMany(['a', 'b'])
      await s.refused(queue.add('c'), 'ERR_QUEUE_FULL')
      assert.equal(await queue.add('a'), 'unchanged')
      await (await s.take(queue)).done()
      assert.equal(await queue.add('c'), 'added')
    },
  },
  {
    id: 'q-take.names',
    title: 'queues of different names on one driver share nothing',
    async run(s) {
      const one = s.queue({ name: 'q' })
      const other = s.queue({ name: 'q2' })
      await one.add('a')
      assert.equal(await other.len(), 0)
      await other.add('a')
      const held = await s.take(one)
      const theirs = await s.take(other)
      assert.equal(await held.done(), 'idle')
      assert.equal(await theirs.done(), 'idle')
    },
  },
  {
    id: 'q-take.objects-share',
    title: 'queue objects of one name on one driver are one queue',
    async run(s) {
      const one = s.queue()
      const other = s.queue()
      await one.add('a')
      assert.equal(await other.add('a'), 'unchanged')
      const held = await s.take(other)
      await s.takeNothing(one)
      await one.add('a')
      assert.equal(await held.done(), 'ready')
      await s.take(one)
    },
  },
]
