import {
  type AddOutcome,
  type CancelOutcome,
  type Clock,
  checkFunction,
  checkObject,
  type FinishOutcome,
  type ForgetOutcome,
  type KeyOf,
  keyOfItem,
  type Limiter,
  SluiceError,
  systemClock,
  type Timer,
} from '@sluice/core'
import { checkAddAfter } from './add-after-options.ts'
import type { DoneOptions, Held } from './held.ts'
import type { Inspect } from './inspect.ts'
import { LimiterInQueue } from './limiter-in-queue.ts'
import type {
  AddAfterOptions,
  AddOptions,
  CloseOptions,
  DelayingQueue,
  Queue,
  QueueCapabilities,
  RateLimitingQueue,
  WaitOptions,
} from './queue.ts'
import type { Within } from './within.ts'

/** How a queue that is not ours is wrapped. */
export interface AdaptOptions<T> {
  readonly clock?: Clock | undefined
  readonly keyOf?: KeyOf<T> | undefined
  readonly onError?: ((error: unknown) => void) | undefined
}

/** An add that waits in this process. */
interface Waiting {
  readonly timer: Timer
  readonly dueAt: number
}

/** The verbs a queue must have to be wrapped. */
const verbs = ['add', 'get', 'done', 'len', 'shutDown', 'shutDownWithDrain'] as const

/** Holds for anything with a queue's methods. */
export function checkQueue<T>(queue: Queue<T>): Queue<T> {
  checkObject('queue', queue)
  for (const verb of verbs) checkFunction(`queue.${verb}`, queue[verb])
  return queue
}

/**
 * Delays around any object with a queue's methods. They live in this process: with it they are lost,
 * and like the originals they are dropped by a shutdown.
 */
export class AdaptedDelaying<T> implements DelayingQueue<T> {
  protected readonly inner: Queue<T>
  protected readonly adapted: AdaptOptions<T>
  readonly #waiting = new Map<string, Waiting>()

  constructor(inner: Queue<T>, options: AdaptOptions<T>) {
    this.inner = inner
    this.adapted = options
  }

  get name(): string {
    return this.inner.name
  }

  get capabilities(): QueueCapabilities {
    return { ...this.inner.capabilities, delays: 'process', dedupe: 'client-go' }
  }

  get inspect(): Inspect {
    return this.inner.inspect
  }

  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome> {
    try {
      return this.#addAfter(item, checkAddAfter(ms, options).delayMs, options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #addAfter(item: T, ms: number, options: AddAfterOptions | undefined): Promise<AddOutcome> {
    const key = keyOfItem(item, this.adapted.keyOf)
    if (this.shuttingDown) throw this.#shutDownError(key)
    const { priority, when = 'earliest' } = options ?? {}
    const add = priority === undefined ? undefined : { priority }
    if (ms <= 0) return this.inner.add(item, add)
    const clock = this.adapted.clock ?? systemClock
    const dueAt = clock.now() + ms
    const earlier = this.#waiting.get(key)
    if (earlier !== undefined && (when === 'earliest') === dueAt >= earlier.dueAt) {
      return Promise.resolve('unchanged')
    }
    earlier?.timer.stop()
    const timer = clock.startTimer(ms, () => {
      this.#waiting.delete(key)
      this.inner.add(item, add).catch((error: unknown) => this.adapted.onError?.(error))
    })
    this.#waiting.set(key, { timer, dueAt })
    return Promise.resolve(earlier === undefined ? 'added' : 'moved')
  }

  #shutDownError(key: string): SluiceError {
    return new SluiceError(
      'ERR_SHUT_DOWN',
      `cannot add key ${JSON.stringify(key)} to queue ${JSON.stringify(this.name)}: it was shut down`,
    )
  }

  #dropDelays(): void {
    for (const { timer } of this.#waiting.values()) timer.stop()
    this.#waiting.clear()
  }

  async cancel(item: T): Promise<CancelOutcome> {
    const key = keyOfItem(item, this.adapted.keyOf)
    const waiting = this.#waiting.get(key)
    waiting?.timer.stop()
    const had = this.#waiting.delete(key)
    const outcome = await this.inner.cancel(item)
    return had ? 'cancelled' : outcome
  }

  add(item: T, options?: AddOptions): Promise<AddOutcome> {
    return this.inner.add(item, options)
  }

  addMany(items: readonly T[], options?: AddOptions): Promise<AddOutcome[]> {
    return this.inner.addMany(items, options)
  }

  addSoon(item: T, options?: AddOptions): void {
    this.inner.addSoon(item, options)
  }

  get(options?: WaitOptions): Promise<Held<T> | undefined> {
    return this.inner.get(options)
  }

  getMany(n: number, options?: WaitOptions): Promise<Held<T>[]> {
    return this.inner.getMany(n, options)
  }

  done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome> {
    return this.inner.done(heldOrItem, options)
  }

  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Promise<FinishOutcome[]> {
    return this.inner.doneMany(helds, options)
  }

  within<Transaction extends object>(transaction: Transaction): Within<T, Transaction> {
    return this.inner.within(transaction)
  }

  len(): Promise<number> {
    return this.inner.len()
  }

  shutDown(): Promise<void> {
    this.#dropDelays()
    return this.inner.shutDown()
  }

  shutDownWithDrain(options?: WaitOptions): Promise<void> {
    this.#dropDelays()
    return this.inner.shutDownWithDrain(options)
  }

  get shuttingDown(): boolean {
    return this.inner.shuttingDown
  }

  close(options?: CloseOptions): Promise<void> {
    this.#dropDelays()
    return this.inner.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<Held<T>> {
    return this.inner[Symbol.asyncIterator]()
  }
}

/** A Held of a queue that is not ours, which comes back by the limiter of ours. */
class AdaptedHeld<T> implements Held<T> {
  readonly #inner: Held<T>
  readonly #addRateLimited: (item: T) => Promise<AddOutcome>
  #isFinished = false

  constructor(inner: Held<T>, addRateLimited: (item: T) => Promise<AddOutcome>) {
    this.#inner = inner
    this.#addRateLimited = addRateLimited
  }

  get item(): T {
    return this.#inner.item
  }
  get key(): string {
    return this.#inner.key
  }
  get token(): number {
    return this.#inner.token
  }
  get failures(): number {
    return this.#inner.failures
  }
  get crashes(): number {
    return this.#inner.crashes
  }
  get priority(): number {
    return this.#inner.priority
  }
  get addedAt(): number {
    return this.#inner.addedAt
  }
  get signal(): AbortSignal {
    return this.#inner.signal
  }

  /** The Held underneath, for the queue underneath. */
  get inner(): Held<T> {
    return this.#inner
  }

  done(options?: DoneOptions): Promise<FinishOutcome> {
    this.#isFinished = true
    return this.#inner.done(options)
  }

  async retry(): Promise<FinishOutcome> {
    this.#isFinished = true
    // Asked for before it is given back: a crash in between leaves it asked for.
    await this.#addRateLimited(this.#inner.item)
    return await this.#inner.done()
  }

  release(): Promise<FinishOutcome> {
    this.#isFinished = true
    return this.#inner.release()
  }

  park(error?: unknown): Promise<FinishOutcome> {
    this.#isFinished = true
    return this.#inner.park(error)
  }

  detach(): this {
    this.#inner.detach()
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isFinished) await this.retry()
  }
}

/** A limiter around any object with a queue's methods; what it counts lives in this process. */
export class AdaptedRateLimiting<T> extends AdaptedDelaying<T> implements RateLimitingQueue<T> {
  readonly #limiter: Limiter<T>
  readonly #asked: LimiterInQueue<T>

  constructor(inner: Queue<T>, limiter: Limiter<T>, options: AdaptOptions<T>) {
    super(inner, options)
    this.#limiter = limiter
    const { when, forget, numRequeues } = limiter
    // Without its plan, since there is no store that could follow it.
    const unplanned: Limiter<T> = {
      when: (item) => when.call(limiter, item),
      forget: (item) => forget.call(limiter, item),
      numRequeues: (item) => numRequeues.call(limiter, item),
    }
    this.#asked = new LimiterInQueue(unplanned, '', (error) => options.onError?.(error))
  }

  async addRateLimited(item: T, options?: AddOptions): Promise<AddOutcome> {
    return await this.addAfter(item, this.#asked.delayOf(item).delayMs, options)
  }

  forget(item: T): Promise<ForgetOutcome> {
    const had = this.#limiter.numRequeues(item) > 0
    this.#limiter.forget(item)
    return Promise.resolve(had ? 'forgotten' : 'unchanged')
  }

  numRequeues(item: T): Promise<number> {
    return Promise.resolve(this.#limiter.numRequeues(item))
  }

  #adapt(held: Held<T>): Held<T> {
    return new AdaptedHeld(held, (item) => this.addRateLimited(item))
  }

  override async get(options?: WaitOptions): Promise<Held<T> | undefined> {
    const held = await this.inner.get(options)
    return held === undefined ? undefined : this.#adapt(held)
  }

  override async getMany(n: number, options?: WaitOptions): Promise<Held<T>[]> {
    const helds = await this.inner.getMany(n, options)
    return helds.map((held) => this.#adapt(held))
  }

  override done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome> {
    return heldOrItem instanceof AdaptedHeld
      ? heldOrItem.done(options)
      : this.inner.done(heldOrItem, options)
  }

  override async doneMany(
    helds: readonly Held<T>[],
    options?: DoneOptions,
  ): Promise<FinishOutcome[]> {
    return await Promise.all(helds.map((held) => held.done(options)))
  }

  override async *[Symbol.asyncIterator](): AsyncIterator<Held<T>> {
    for await (const held of this.inner) yield this.#adapt(held)
  }
}
