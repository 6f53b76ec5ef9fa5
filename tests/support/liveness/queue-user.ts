import type { Chance } from '@sluice/conformance'
import type { Driver } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import { createRateLimitingQueue, createWorker, exponential, type Held } from 'sluice'
import type { RunBook } from './run-book.ts'

/** A key whose run fails says so to the worker. */
class Failed extends Error {}

/** How many keys there are. */
const keyCount = 30

/** What one process does: it adds keys, waits for some, and lets workers run. */
export class QueueUser {
  readonly queue
  readonly #clock: FakeClock
  readonly #chance: Chance
  readonly #book: RunBook
  readonly #workers = new Set<ReturnType<typeof createWorker>>()
  readonly #gets = new Set<AbortController>()
  /** Whether handlers fail and take long. */
  isRough = true

  constructor(driver: Driver, clock: FakeClock, chance: Chance, book: RunBook) {
    this.#clock = clock
    this.#chance = chance
    this.#book = book
    this.queue = createRateLimitingQueue<string>({
      name: 'orders',
      driver,
      clock,
      leaseMs: 3_000,
      prefetch: chance.pick([0, 0, 5]),
      limiter: exponential({ baseMs: 5, maxMs: 1_000 }),
      maxCrashes: 1_000_000,
      onError: (error) => book.errors.push(error),
    })
  }

  /** One thing that a program may do. */
  act(): void {
    const chance = this.#chance
    const { queue } = this
    const key = `key ${chance.below(keyCount)}`
    const many = [key, `key ${chance.below(keyCount)}`, `key ${chance.below(keyCount)}`]
    switch (chance.below(12)) {
      case 0:
      case 1:
        void this.#book.add('add', [key], queue.add(key, { priority: chance.below(3) }))
        break
      case 2:
        void this.#book.add('addMany', many, queue.addMany(many))
        break
      case 3:
        void this.#book.add('addAfter', [key], queue.addAfter(key, chance.below(2_000)))
        break
      case 4:
        void this.#book.add('addRateLimited', [key], queue.addRateLimited(key))
        break
      case 5:
        queue.addSoon(key)
        break
      case 6:
        if (this.#workers.size < 2) this.work()
        break
      case 7:
        void this.stopWorker()
        break
      case 8:
      case 9:
        void this.#get()
        break
      case 10:
        this.abortGets()
        break
      case 11:
        void this.#book.watch('len', queue.len())
        break
    }
  }

  /** Starts a worker. */
  work(): void {
    const worker = createWorker({
      queue: this.queue,
      concurrency: this.#chance.pick([1, 2, 5]),
      abandonMs: 2_000,
      handler: (key, { token, signal }) => this.#run(key, token, signal),
      onError() {},
    })
    worker.stopped.catch((error: unknown) => {
      this.#book.saw('a worker has ended without being stopped')
      this.#book.errors.push(error)
    })
    this.#workers.add(worker)
  }

  async stopWorker(): Promise<void> {
    const [worker] = this.#workers
    if (worker === undefined) return
    this.#workers.delete(worker)
    this.#book.saw('a worker is stopped')
    await this.#book.watch('stop', worker.stop({ graceMs: this.#chance.pick([0, 500, 10_000]) }))
  }

  /** Adds every key. */
  addAll(): void {
    const keys = Array.from({ length: keyCount }, (_, at) => `key ${at}`)
    void this.#book.add('addMany', keys, this.queue.addMany(keys))
  }

  /** Waits for many keys. */
  want(): void {
    for (let nth = 0; nth < 10; nth += 1) void this.#get()
  }

  abortGets(): void {
    for (const get of this.#gets) {
      this.#book.saw('a get is aborted')
      get.abort()
    }
    this.#gets.clear()
  }

  /** Lets everything end: what waits, the workers, and the queue. */
  async end(): Promise<void> {
    this.abortGets()
    while (this.#workers.size > 0) await this.stopWorker()
    await this.#book.watch('close', this.queue.close())
  }

  async #get(): Promise<void> {
    const abort = new AbortController()
    this.#gets.add(abort)
    let held: Held<string> | undefined
    try {
      held = await this.queue.get({ signal: abort.signal })
    } catch {
      this.#book.saw('a get ended with its signal')
    }
    this.#gets.delete(abort)
    if (held === undefined) return
    const begunAt = this.#book.begin(held.key, held.token, held.signal)
    await this.#takes(held.signal)
    const how = this.#chance.pick(['done', 'done', 'retry', 'release'] as const)
    if (how === 'done') this.#book.wentWell(held.key, begunAt)
    // A program that cannot finish a key tries again: it holds it until then.
    while ((await this.#book.watch(how, held[how]())) === undefined) await this.#passes(100)
  }

  async #passes(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#clock.startTimer(ms, resolve)
    })
  }

  async #run(key: string, token: number, signal: AbortSignal): Promise<void> {
    const begunAt = this.#book.begin(key, token, signal)
    await this.#takes(signal)
    if (this.isRough && this.#chance.happens(0.2)) throw new Failed('a run that fails')
    // A run that returns is finished, also when the worker is stopping.
    this.#book.wentWell(key, begunAt)
  }

  /** How long a run takes; now and then longer than a lease, and now and then it does not stop. */
  async #takes(signal: AbortSignal): Promise<void> {
    const ms = this.isRough ? this.#chance.pick([0, 0, 10, 100, 1_000, 5_000]) : 0
    if (ms === 0) return
    const stops = this.#chance.happens(0.7)
    await new Promise<void>((resolve) => {
      this.#clock.startTimer(ms, resolve)
      if (stops) signal.addEventListener('abort', () => resolve())
    })
  }
}
