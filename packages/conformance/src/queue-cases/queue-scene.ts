import assert from 'node:assert/strict'
import { type Driver, heartbeatMs, type KeyRow, SluiceError, systemClock } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import { realTime } from '../scene/real-time.ts'
import type { Scene } from '../scene/scene.ts'
import type { CallLog } from '../wrappers/recorded.ts'
import type {
  PublicDelayingQueue,
  PublicHeld,
  PublicOptions,
  PublicQueue,
  PublicRateLimitingQueue,
  QueueFactories,
} from './public-api.ts'

/** The state of a promise so far. */
export interface WatchedPromise<T> {
  state: 'waiting' | 'resolved' | 'rejected'
  value?: T
  error?: unknown
}

/** Options of a queue that the scene does not set. */
export type Parts = Partial<PublicOptions>

type Closable = Pick<PublicQueue<unknown>, 'close'>

/** After this many turns without a call in flight, all work has ended. */
const quietTurns = 3

/** How much longer than a wake an automatic change may take, in real time. */
const soonHints = 4

/** How long closing waits for aborted handlers. */
const abortMs = 1_000

/** The step of the clock while the scene waits. */
const creepMs = 20

/** Watches a promise without awaiting it. */
export function watchPromise<T>(promise: Promise<T>): WatchedPromise<T> {
  const what: WatchedPromise<T> = { state: 'waiting' }
  promise.then(
    (value) => Object.assign(what, { state: 'resolved', value }),
    (error: unknown) => Object.assign(what, { state: 'rejected', error }),
  )
  return what
}

/** A driver and its clock, and the queues of a case on it. */
export class QueueScene {
  readonly clock: FakeClock
  /** The errors that were reported to `onError`. */
  readonly errors: unknown[] = []
  readonly factories: QueueFactories
  /** The scene of the driver below, whose verbs bypass the queues. */
  readonly store: Scene
  readonly #driver: Driver
  readonly #log: CallLog
  readonly #usual: Parts
  readonly #queues: Closable[] = []

  private constructor(store: Scene, factories: QueueFactories, usual: Parts) {
    this.store = store
    this.clock = store.clock
    this.factories = factories
    this.#driver = store.driver
    this.#log = store.log
    this.#usual = usual
  }

  /** Begins a case. The queues open the driver; the scene only reads, after that. */
  static async begin(store: Scene, factories: QueueFactories, usual: Parts): Promise<QueueScene> {
    await store.close()
    return new QueueScene(store, factories, usual)
  }

  /** Closes every queue, even if it holds keys. */
  async end(): Promise<void> {
    const closing = watchPromise(Promise.all(this.#queues.map((queue) => queue.close())))
    await this.quiet()
    // Held keys have a second to react to the abort.
    if (closing.state === 'waiting') await this.step(abortMs)
    await this.settled(closing)
    if (closing.state === 'rejected') throw closing.error
  }

  /** The driver of the queues. */
  get driver(): Driver {
    return this.#driver
  }

  options(parts: Parts = {}): PublicOptions {
    return {
      name: 'q',
      driver: this.#driver,
      clock: this.clock,
      onError: (error) => this.errors.push(error),
      ...this.#usual,
      ...parts,
    }
  }

  /** Closes this queue after the case. */
  keep<Q extends Closable>(queue: Q): Q {
    this.#queues.push(queue)
    return queue
  }

  queue<T = string>(parts?: Parts): PublicQueue<T> {
    return this.keep(this.factories.createQueue<T>(this.options(parts)))
  }

  delaying<T = string>(parts?: Parts): PublicDelayingQueue<T> {
    return this.keep(this.factories.createDelayingQueue<T>(this.options(parts)))
  }

  limited<T = string>(parts?: Parts): PublicRateLimitingQueue<T> {
    return this.keep(this.factories.createRateLimitingQueue<T>(this.options(parts)))
  }

  /** A driver on the same store as in another process, for queues of that process. */
  async peerDriver(): Promise<Driver> {
    const peer = await this.store.peer()
    await peer.close()
    return peer.driver
  }

  /** Completes all work in flight that does not wait for time. */
  async quiet(): Promise<void> {
    for (let still = 0; still < quietTurns; still += 1) {
      await this.clock.step(0)
      if (this.#log.inFlight > 0) {
        // The work in flight is real input and output, which takes real time.
        await realTime()
        still = -1
      }
    }
  }

  /** Steps the clock from one timer to the next, and completes the work that each one starts. */
  async step(ms: number): Promise<void> {
    const target = this.clock.now() + ms
    for (;;) {
      await this.quiet()
      const next = this.clock.nextAt()
      if (next === undefined || next > target) break
      await this.clock.step(Math.max(0, next - this.clock.now()))
    }
    await this.clock.step(Math.max(0, target - this.clock.now()))
    await this.quiet()
  }

  /** Waits for an automatic change, in real time if necessary, while the clock advances slowly. */
  async soon<T>(promise: Promise<T>): Promise<T> {
    await this.settled(watchPromise(promise))
    return await promise
  }

  /** Waits until a watched promise has settled. */
  async settled(what: WatchedPromise<unknown>): Promise<void> {
    await this.until(() => what.state !== 'waiting')
  }

  /** Waits until a watched promise has settled; asserts that a wake did it, not the next poll. */
  async woken(what: WatchedPromise<unknown>): Promise<void> {
    const before = this.clock.now()
    // Slower than real time, so that a store that is held up still wakes before the next poll.
    await this.until(() => what.state !== 'waiting', 1)
    const ms = this.clock.now() - before
    assert.ok(ms < heartbeatMs, `it took ${ms} ms, which is not a wake but another look`)
  }

  /** Waits until a condition is true, in real time if necessary, while the clock advances slowly. */
  async until(holds: () => boolean | Promise<boolean>, stepMs: number = creepMs): Promise<void> {
    const soonMs = this.store.context.hintMs * soonHints
    const endsAt = systemClock.monotonicMs() + soonMs
    for (;;) {
      await this.quiet()
      if (await holds()) return
      if (systemClock.monotonicMs() > endsAt) throw new Error('what should come soon did not come')
      await realTime()
      await this.clock.step(stepMs)
    }
  }

  /** Takes the next key; asserts that there is one. */
  async take<T>(queue: PublicQueue<T>): Promise<PublicHeld<T>> {
    const taking = watchPromise(queue.get())
    await this.quiet()
    if (taking.state === 'rejected') throw taking.error
    assert.ok(taking.value, `a key can be taken; get is ${taking.state}`)
    return taking.value
  }

  /** Asserts that no key can be taken now. */
  async takeNothing<T>(queue: PublicQueue<T>): Promise<void> {
    const abort = new AbortController()
    const taking = watchPromise(queue.get({ signal: abort.signal }))
    await this.quiet()
    assert.equal(taking.state, 'waiting', `${taking.value?.key} can be taken`)
    abort.abort(new Error('enough'))
    await this.quiet()
    assert.equal(taking.state, 'rejected', 'an abandoned get rejects')
  }

  /** Takes and finishes all ready keys, and returns them in the order in which they came. */
  async drainKeys<T>(queue: PublicQueue<T>): Promise<string[]> {
    const keys: string[] = []
    while ((await queue.len()) > 0) {
      const held = await this.take(queue)
      keys.push(held.key)
      await held.done()
    }
    return keys
  }

  /** The row of a key. */
  async row(key: string): Promise<KeyRow | undefined> {
    return (await this.#driver.list('q', { keys: [key], limit: 1 })).rows[0]
  }

  /** The state of a key in the store; `gone` if there is no row. */
  async state(key: string): Promise<string> {
    return (await this.row(key))?.state ?? 'gone'
  }

  /** How often a verb of the driver has been called. */
  calls(verb: string): number {
    return this.#log.lines.filter((line) => line.startsWith(`${verb}(`)).length
  }

  /** Asserts that the promise is rejected with that code. */
  async refused(promise: Promise<unknown>, code: string): Promise<void> {
    const what = watchPromise(promise)
    await this.quiet()
    assert.equal(what.state, 'rejected', `rejects with ${code}; it is ${what.state}`)
    assert.ok(SluiceError.is(what.error), `rejects with an error of ours: ${String(what.error)}`)
    assert.equal(what.error.code, code)
  }
}
