import { type Driver, type KeyRow, type Operate, SluiceError } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { expect, onTestFinished } from 'vitest'
import {
  type CloseOptions,
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  createWorker,
  type DelayingQueue,
  type HandlerResult,
  type Held,
  type Logger,
  type Queue,
  type QueueOptions,
  type RateLimitingQueue,
  type Worker,
} from '../../src/index.ts'
import { LateDriver, nextTurn } from './late-driver.ts'

/** One way from a queue to a driver. The behaviour of a queue must not depend on it. */
export interface Setup {
  readonly way: string
  /** Options that every queue needs to go this way. */
  readonly options: { readonly leaseMs?: number }
  driver(inner: Driver): Driver
}

/** The direct queue of a driver in this process. */
export const direct: Setup = { way: 'direct', options: {}, driver: (inner) => inner }

/** Batches, to a synchronous driver. */
export const leased: Setup = {
  way: 'batched at once',
  options: { leaseMs: 30_000 },
  driver: (inner) => inner,
}

/** Batches, to an asynchronous driver. */
export const late: Setup = {
  way: 'batched later',
  options: { leaseMs: 30_000 },
  driver: (inner) => new LateDriver(inner),
}

/** Batches, to an asynchronous driver without leases. */
export const unleased: Setup = {
  way: 'batched without leases',
  options: {},
  driver: (inner) => new LateDriver(inner),
}

/** All ways; every test of behaviour runs over each. */
export const setups: readonly Setup[] = [direct, leased, late, unleased]

/** The ways with batches. */
export const batchedSetups: readonly Setup[] = [leased, late, unleased]

/** The ways on which keys are held under a lease. */
export const leasedSetups: readonly Setup[] = [leased, late]

/** The options that a test may set; the scene sets the rest. */
export type SceneOptions<T> = Partial<QueueOptions<T>>

/** Keeps what no test asks for out of the output of the tests. */
const silent: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** A driver with a clock that stands still, and queues on it that are closed after the test. */
export class Scene {
  readonly setup: Setup
  readonly clock: FakeClock
  /** The memory driver underneath. */
  readonly inner: Driver
  /** The driver of the queues. */
  readonly driver: Driver
  /** Errors that `onError` was called with. A test has to take those that it expects. */
  errors: unknown[] = []
  readonly #queues: { close(options?: CloseOptions): Promise<void> }[] = []

  constructor(setup: Setup, inner: Driver = memoryDriver()) {
    this.setup = setup
    this.clock = fakeClock(1_000_000, { settle: () => this.quiet() })
    this.inner = inner
    this.driver = setup.driver(inner)
    onTestFinished(async () => {
      await this.end()
      expect(this.errors).toEqual([])
    })
  }

  /** The driver as one whose answers can be held back. */
  get late(): LateDriver {
    if (this.driver instanceof LateDriver) return this.driver
    throw new Error('this way has no late driver')
  }

  get operate(): Operate {
    return this.driver.operate as Operate
  }

  options<T>(more: SceneOptions<T> = {}): QueueOptions<T> {
    return {
      name: 'q',
      driver: this.driver,
      clock: this.clock,
      onError: (error) => this.errors.push(error),
      logger: silent,
      ...this.setup.options,
      ...more,
    }
  }

  /** Closes this queue after the test, too. */
  keep<Q extends { close(options?: CloseOptions): Promise<void> }>(queue: Q): Q {
    this.#queues.push(queue)
    return queue
  }

  /** Does not close this queue after the test. */
  forget(queue: { close(): Promise<void> }): void {
    this.#queues.splice(this.#queues.indexOf(queue), 1)
  }

  // The factories look into T to refuse items that are not JSON; here T is not known yet.

  queue<T = string>(more?: SceneOptions<T>): Queue<T> {
    return this.keep(createQueue<T>(this.options(more) as never))
  }

  delaying<T = string>(more?: SceneOptions<T>): DelayingQueue<T> {
    return this.keep(createDelayingQueue<T>(this.options(more) as never))
  }

  limited<T = string>(more?: SceneOptions<T>): RateLimitingQueue<T> {
    return this.keep(createRateLimitingQueue<T>(this.options(more) as never))
  }

  /** Lets everything finish that is in flight and does not wait for time. */
  async quiet(): Promise<void> {
    for (let still = 0; still < 3; still += 1) {
      await nextTurn()
      if (this.driver instanceof LateDriver && this.driver.inFlight > 0) still = -1
    }
  }

  /** The stored row of a key. */
  async row(key: string, queue = 'q'): Promise<KeyRow | undefined> {
    const { rows } = await this.inner.list(queue, { keys: [key], limit: 1 })
    return rows[0]
  }

  /** The state of every key in the store. */
  async states(queue = 'q'): Promise<Record<string, string>> {
    const { rows } = await this.inner.list(queue, { limit: 1_000 })
    return Object.fromEntries(rows.map(({ key, state }) => [key, state]))
  }

  /** The codes of the errors reported since the last call. */
  takeErrors(): string[] {
    const { errors } = this
    this.errors = []
    return errors.map((error) => (error as { code?: string }).code ?? String(error))
  }

  /** Closes every queue; keys that it holds are no error here. */
  async end(): Promise<void> {
    const { errors } = this
    this.errors = []
    const closing = Promise.all(this.#queues.map((queue) => queue.close({ graceMs: 0 })))
    await this.clock.step(0)
    await this.clock.step(1_000)
    await closing
    this.errors = [...errors, ...this.errors.filter((it) => !SluiceError.is(it, 'ERR_CLOSING'))]
  }
}

/** Renews nothing, as for a holder that is cut off from the store while other processes are not. */
export const cutOff: Driver['renew'] = (_, leases) => {
  const error = new SluiceError('ERR_STORE', 'the holder is cut off', { retryable: true })
  return leases.map(() => ({ outcome: 'failed', error }))
}

/** Takes all keys that are ready now, finishes them, and gives them in the order they came in. */
export async function drainKeys<T>(queue: Queue<T>): Promise<string[]> {
  const keys: string[] = []
  for (let left = await queue.len(); left > 0; left = await queue.len()) {
    const held = await queue.get()
    if (held === undefined) break
    keys.push(held.key)
    await held.done()
  }
  return keys
}

/** The state of a promise. */
export interface Seen<R> {
  state: 'waiting' | 'resolved' | 'rejected'
  value?: R
  error?: unknown
}

/** Watches a promise without waiting for it. */
export function seen<R>(promise: Promise<R>): Seen<R> {
  const what: Seen<R> = { state: 'waiting' }
  promise.then(
    (value) => Object.assign(what, { state: 'resolved', value }),
    (error: unknown) => Object.assign(what, { state: 'rejected', error }),
  )
  return what
}

/** Takes the next key, which must be there. */
export async function take<T>(queue: Queue<T>): Promise<Held<T>> {
  const held = await queue.get()
  if (held === undefined) throw new Error('the queue has ended')
  return held
}

/** A queue whose only key, `a`, is held. */
export async function holding(
  setup: Setup,
): Promise<{ readonly scene: Scene; readonly queue: Queue<string>; readonly held: Held<string> }> {
  const scene = new Scene(setup)
  const queue = scene.queue()
  await queue.add('a')
  return { scene, queue, held: await take(queue) }
}

/** A worker whose handlers run until the test ends them, one after the other. */
export class SteppedWorker {
  readonly started: string[] = []
  readonly worker: Worker
  readonly #ends: ((result: HandlerResult) => void)[] = []

  constructor(queue: Queue<string>, concurrency = 1) {
    this.worker = createWorker({
      queue,
      concurrency,
      handler: (item) => {
        this.started.push(item)
        return new Promise<HandlerResult>((resolve) => this.#ends.push(resolve))
      },
    })
  }

  /** Ends the handler that has run longest. */
  end(result?: HandlerResult): void {
    this.#ends.shift()?.(result)
  }

  /** Ends every handler that runs. */
  endAll(): void {
    for (const end of this.#ends.splice(0)) end(undefined)
  }
}
