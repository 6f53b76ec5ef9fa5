import assert from 'node:assert/strict'
import type { PublicQueue } from './public-api.ts'
import type { QueueCase } from './queue-case.ts'
import { type QueueScene, watchPromise } from './queue-scene.ts'

/** A queue object that leaves its store alone after a second. */
const quiet = { leaseMs: 30_000, quietAfterMs: 1_000 } as const

/** How long it takes at most until a queue object without work is quiet, and its store not watched. */
const quietMs = 30_000

const hourMs = 3_600_000

/** Asserts that the store gets no calls while this time passes. */
async function passUncalled(s: QueueScene, ms: number): Promise<void> {
  const before = s.store.log.lines.length
  await s.step(ms)
  assert.deepEqual(s.store.log.lines.slice(before), [], `calls in ${ms} ms`)
}

/** Awaits the key a, which is due in an hour: until then the store gets no calls. */
async function waitAnHour(s: QueueScene, queue: PublicQueue<string>): Promise<void> {
  const waiting = watchPromise(queue.get())
  await s.step(quietMs)
  await passUncalled(s, hourMs - quietMs - 1)
  assert.equal(waiting.state, 'waiting')
  await s.step(1)
  await s.settled(waiting)
  assert.equal(waiting.value?.item, 'a')
}

/** With `quietAfterMs`, a queue without work leaves its store alone. */
export const quietingCases: readonly QueueCase[] = [
  {
    id: 'q-quiet.uncalled',
    title: 'with quietAfterMs, a waiting queue without work makes no calls, until the next add',
    async run(s) {
      const queue = s.queue(quiet)
      const first = watchPromise(queue.get())
      await queue.add('a')
      await s.quiet()
      await first.value?.done()
      const second = watchPromise(queue.get())
      await s.step(quietMs)
      await passUncalled(s, hourMs)
      await s.queue(quiet).add('b')
      await s.quiet()
      assert.equal(second.value?.item, 'b')
      await second.value?.done()
      const third = watchPromise(queue.get())
      await s.step(quietMs)
      await passUncalled(s, hourMs)
      assert.equal(third.state, 'waiting')
    },
  },
  {
    id: 'q-quiet.delayed',
    title: 'a quiet queue hands out a delayed key on time, and makes no calls until then',
    async run(s) {
      const queue = s.delaying(quiet)
      await queue.addAfter('a', hourMs)
      await waitAnHour(s, queue)
    },
  },
  {
    id: 'q-quiet.backoff',
    title:
      'a quiet queue hands out a failed key when its back-off ends, and makes no calls until then',
    async run(s) {
      const limiter = { when: () => hourMs, forget: () => undefined, numRequeues: () => 0 }
      const queue = s.limited({ ...quiet, limiter })
      await queue.add('a')
      await (await s.take(queue)).retry(new Error('not yet'))
      await waitAnHour(s, queue)
    },
  },
  {
    id: 'q-quiet.wake',
    title: 'wake has a quiet queue find the keys of another process',
    needs: { peers: true },
    async run(s) {
      const queue = s.queue(quiet)
      const waiting = watchPromise(queue.get())
      await s.step(quietMs)
      const theirs = s.queue({ driver: await s.peerDriver() })
      await theirs.add('a')
      queue.wake()
      await s.woken(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-quiet.listens',
    title: 'a queue that was quiet is woken by other processes again once it has had work',
    needs: { watch: true, peers: true },
    async run(s) {
      const queue = s.queue(quiet)
      const early = watchPromise(queue.get())
      await s.step(quietMs)
      await queue.add('b')
      await s.quiet()
      await early.value?.done()
      const waiting = watchPromise(queue.get())
      await s.quiet()
      const theirs = s.queue({ driver: await s.peerDriver() })
      await theirs.add('a')
      await s.woken(waiting)
      assert.equal(waiting.value?.item, 'a')
    },
  },
  {
    id: 'q-quiet.held',
    title: 'a queue that holds a key is not quiet: its lease is renewed',
    async run(s) {
      const queue = s.queue(quiet)
      await queue.add('a')
      const held = await s.take(queue)
      await s.step(300_000)
      assert.equal(held.signal.aborted, false)
      assert.equal(await s.state('a'), 'processing')
      assert.equal(await held.done(), 'idle')
    },
  },
]
