import assert from 'node:assert/strict'
import type { Driver } from '@sluice/core'
import type { QueueCase } from './queue-case.ts'
import { type QueueScene, watchPromise } from './queue-scene.ts'

/** A driver whose finishes are sent on, or answered, when the case says so. */
class SlowFinishes {
  readonly driver: Driver
  readonly #gate: Promise<void>
  letGo: () => void = () => {}

  /** `hold`: whether the finishes or only their answers are held back. */
  constructor(driver: Driver, hold: 'finish' | 'answer') {
    this.#gate = new Promise<void>((resolve) => {
      this.letGo = resolve
    })
    const finish: Driver['finish'] = async (...request) => {
      if (hold === 'finish') await this.#gate
      const replies = await driver.finish(...request)
      await this.#gate
      return replies
    }
    this.driver = new Proxy(driver, {
      get: (_, name) => {
        if (name === 'finish') return finish
        // Without its direct queue, a driver in this process gets batches as any other.
        if (name === 'direct') return undefined
        const value: unknown = Reflect.get(driver, name, driver)
        return typeof value === 'function' ? value.bind(driver) : value
      },
    })
  }
}

function setUp(s: QueueScene, hold: 'finish' | 'answer', prefetch: number) {
  const slow = new SlowFinishes(s.driver, hold)
  const queue = s.limited<string>({ driver: slow.driver, prefetch })
  return { slow, queue }
}

/** The behaviour of a worker between the return of a handler and the acknowledgement of its finish. */
export const acknowledgingCases: readonly QueueCase[] = [
  {
    id: 'q-worker.slot.free-at-return',
    title:
      'a slot of a worker is free when its handler has returned; what runs, waits for an ' +
      'acknowledgement or was claimed ahead is at most its concurrency and prefetch together',
    async run(s) {
      const { slow, queue } = setUp(s, 'finish', 3)
      await queue.addMany(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
      let runs = 0
      const worker = s.factories.createWorker<string>({
        queue,
        concurrency: 2,
        handler: () => {
          runs += 1
        },
      })
      await s.quiet()
      assert.deepEqual([runs, worker.running, worker.finishing], [5, 0, 5])
      assert.equal(await queue.len(), 3)
      slow.letGo()
      await s.soon(worker.runUntilIdle())
      assert.equal(runs, 8)
    },
  },
  {
    id: 'q-worker.slot.no-prefetch',
    title: 'without prefetch, a worker starts no key before the finish of the last is acknowledged',
    async run(s) {
      const { slow, queue } = setUp(s, 'finish', 0)
      await queue.addMany(['a', 'b', 'c'])
      let runs = 0
      const worker = s.factories.createWorker<string>({
        queue,
        handler: () => {
          runs += 1
        },
      })
      await s.quiet()
      assert.deepEqual([runs, worker.finishing], [1, 1])
      slow.letGo()
      await s.soon(worker.runUntilIdle())
      assert.equal(runs, 3)
    },
  },
  {
    id: 'q-worker.unacknowledged.alone',
    title: 'a key does not run again before the finish of its last run is acknowledged',
    async run(s) {
      const { slow, queue } = setUp(s, 'answer', 3)
      await queue.add('a')
      let runs = 0
      const worker = s.factories.createWorker<string>({
        queue,
        concurrency: 2,
        handler: async () => {
          runs += 1
          if (runs === 1) await queue.add('a')
        },
      })
      await s.quiet()
      assert.deepEqual([runs, worker.finishing], [1, 1])
      slow.letGo()
      await s.soon(worker.runUntilIdle())
      assert.equal(runs, 2)
    },
  },
  {
    id: 'q-worker.unacknowledged.stop',
    title: 'a worker that is stopped waits until the store has acknowledged its finishes',
    async run(s) {
      const { slow, queue } = setUp(s, 'finish', 0)
      await queue.add('a')
      const worker = s.factories.createWorker<string>({ queue, handler: () => undefined })
      await s.quiet()
      const stopping = watchPromise(worker.stop({ graceMs: 60_000 }))
      await s.quiet()
      assert.equal(stopping.state, 'waiting')
      slow.letGo()
      await s.quiet()
      assert.equal(stopping.state, 'resolved')
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'q-worker.unacknowledged.idle',
    title: 'runUntilIdle waits until the store has acknowledged the finishes of the worker',
    async run(s) {
      const { slow, queue } = setUp(s, 'answer', 1)
      await queue.add('a')
      const worker = s.factories.createWorker<string>({ queue, handler: () => undefined })
      const idle = watchPromise(worker.runUntilIdle())
      await s.quiet()
      assert.equal(idle.state, 'waiting')
      slow.letGo()
      await s.quiet()
      assert.equal(idle.state, 'resolved')
    },
  },
  {
    id: 'q-worker.unacknowledged.given-up',
    title:
      'a finish that is not acknowledged a second after the grace is given up: the key is named ' +
      'in one error, and runs again if the finish did not take effect',
    async run(s) {
      const { slow, queue } = setUp(s, 'finish', 2)
      await queue.addMany(['a', 'b'])
      const signals: AbortSignal[] = []
      const worker = s.factories.createWorker<string>({
        queue,
        handler: (_, { signal }) => void signals.push(signal),
      })
      await s.quiet()
      const stopping = watchPromise(worker.stop({ graceMs: 500 }))
      await s.step(500)
      await s.step(1_000)
      assert.equal(stopping.state, 'resolved')
      const closing = s.errors.filter(
        (error) => (error as { code?: string }).code === 'ERR_CLOSING',
      )
      assert.equal(closing.length, 1)
      assert.match(String(closing[0]), /"a", "b"/)
      // The handlers have returned: nothing is left to abort.
      assert.deepEqual(
        signals.map(({ aborted }) => aborted),
        [false, false],
      )
      slow.letGo()
      await s.quiet()
    },
  },
]
