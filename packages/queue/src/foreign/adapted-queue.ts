import {
  type AddOutcome,
  type CancelOutcome,
  type Clock,
  checkBoolean,
  checkFunction,
  checkQueueName,
  type FinishOutcome,
  type ForgetOutcome,
  type KeyOf,
  keyOfItem,
  type Limiter,
  SluiceError,
  type SluiceEvent,
  SluiceTypeError,
  systemClock,
  type TracedVerb,
} from '@sluice/core'
import { allAnswered, resolvedAdd } from '../core/resolved.ts'
import { ErrorReports } from '../driver/error-reports.ts'
import { OncePerMinute } from '../driver/once-per-minute.ts'
import { notice } from '../driver/traced.ts'
import type { DoneOptions, Held } from '../held/held.ts'
import { retryAfter } from '../held/retry-after.ts'
import type { Inspect } from '../inspect/inspect.ts'
import { checkAddAfter, checkAddOptions } from '../queue/check-add.ts'
import { LimiterInQueue } from '../queue/limiter-in-queue.ts'
import { checkClock } from '../queue/options.ts'
import type {
  AddAfterOptions,
  AddOptions,
  CloseOptions,
  DelayingQueue,
  Queue,
  QueueCapabilities,
  RateLimitingQueue,
  WaitOptions,
} from '../queue/queue.ts'
import type { Within } from '../queue/within.ts'
import { AdaptedHeld, type HeldLimits } from './adapted-held.ts'
import { completed, type ForeignQueue } from './foreign-queue.ts'
import { ProcessDelays } from './process-delays.ts'

/** How a foreign queue is wrapped. */
export interface AdaptOptions<T> {
  /**
   * The name of its retries in metrics (`workqueue_retries_total`), as in
   * `NewDelayingQueueWithCustomQueue`. Default: that of the queue, if it has one.
   */
  readonly name?: string | undefined
  /** The clock of the delays. Default: the system's. */
  readonly clock?: Clock | undefined
  /** The key of an item. Default: the item, or its canonical JSON. */
  readonly keyOf?: KeyOf<T> | undefined
  /** Called with errors that no call can return. Default: stderr, one line a minute for each error code. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Whether a wait for a delayed key keeps the process alive. Default true. */
  readonly ref?: boolean | undefined
}

/** Checks the options that are for foreign queues only. */
export function checkAdaptOptions<T>({ name, clock, keyOf, onError, ref }: AdaptOptions<T>): void {
  if (name !== undefined) checkQueueName('name', name, { empty: true })
  if (clock !== undefined) checkClock(clock)
  if (keyOf !== undefined) checkFunction('keyOf', keyOf)
  if (onError !== undefined) checkFunction('onError', onError)
  if (ref !== undefined) checkBoolean('ref', ref)
}

/**
 * Delays around any object with a queue's methods. They live in this process: they are lost with
 * it, and dropped by a shutdown, as in the originals.
 */
export class AdaptedDelayingQueue<T> implements DelayingQueue<T> {
  protected readonly inner: Queue<T>
  protected readonly adapted: AdaptOptions<T>
  /** Errors that no call can return. */
  protected readonly reports: ErrorReports
  readonly #delays: ProcessDelays<T>

  constructor(queue: ForeignQueue<T>, options: AdaptOptions<T>) {
    this.reports = new ErrorReports({
      queue: options.name ?? queue.name ?? '',
      onError: options.onError,
      logger: undefined,
      printed: new OncePerMinute(),
      event: () => this.#event('error', undefined),
    })
    this.inner = completed(queue, (error) => this.reports.report(error))
    this.adapted = options
    const { clock = systemClock, keyOf, ref = true } = options
    const add = (item: T, priority: number | undefined): void => {
      // As in the originals, which drop delayed adds when the queue is shut down.
      if (this.shuttingDown) return
      this.#add(item, priority).catch((error: unknown) => this.reports.report(error))
    }
    this.#delays = new ProcessDelays({ clock, keyOf, ref, add })
  }

  async #add(item: T, priority: number | undefined): Promise<AddOutcome> {
    return await this.inner.add(item, priority === undefined ? undefined : { priority })
  }

  get name(): string {
    return this.adapted.name ?? this.inner.name
  }

  #event(verb: TracedVerb, request: unknown): SluiceEvent {
    return { verb, queue: this.name, driver: '', holder: '', request }
  }

  get capabilities(): QueueCapabilities {
    return { ...this.inner.capabilities, delays: 'process', dedupe: 'client-go' }
  }

  get inspect(): Inspect {
    return this.inner.inspect
  }

  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome> {
    try {
      const { delayMs, maxWaitMs } = checkAddAfter(ms, options)
      this.refuseWhenEnding(item)
      notice(this.#event('add-after', { ms: delayMs }))
      const priority = options?.priority
      if (!(delayMs > 0)) return this.#add(item, priority)
      return resolvedAdd(this.#delays.ask(item, delayMs, priority, maxWaitMs))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Throws if adds are not taken any more, or if the item has no key. */
  protected refuseWhenEnding(item: T): void {
    const key = keyOfItem(item, this.adapted.keyOf)
    if (!this.shuttingDown) return
    throw new SluiceError(
      'ERR_SHUT_DOWN',
      `cannot add key ${JSON.stringify(key)} to queue ${JSON.stringify(this.name)}: it was shut down`,
    )
  }

  async cancel(item: T): Promise<CancelOutcome> {
    const had = this.#delays.cancel(keyOfItem(item, this.adapted.keyOf))
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

  /** A Held of the queue within, as this layer hands it out. */
  protected adapt(held: Held<T>): Held<T> {
    return held
  }

  async get(options?: WaitOptions): Promise<Held<T> | undefined> {
    const held = await this.#delays.during(this.inner.get(options))
    return held === undefined ? undefined : this.adapt(held)
  }

  async getMany(n: number, options?: WaitOptions): Promise<Held<T>[]> {
    const helds = await this.#delays.during(this.inner.getMany(n, options))
    return helds.map((held) => this.adapt(held))
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

  wake(): void {
    this.inner.wake()
  }

  len(): Promise<number> {
    return this.inner.len()
  }

  shutDown(): Promise<void> {
    this.#delays.clear()
    return this.inner.shutDown()
  }

  shutDownWithDrain(options?: WaitOptions): Promise<void> {
    this.#delays.clear()
    return this.inner.shutDownWithDrain(options)
  }

  get shuttingDown(): boolean {
    return this.inner.shuttingDown
  }

  close(options?: CloseOptions): Promise<void> {
    this.#delays.clear()
    return this.inner.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Held<T>> {
    const inner = this.inner[Symbol.asyncIterator]()
    let last: Held<T> | undefined
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: async () => {
        const { done, value } = await this.#delays.during(inner.next())
        if (done === true) return { done, value: undefined }
        last = this.adapt(value)
        return { done: false, value: last }
      },
      return: async () => {
        // A retry that is under way has not given its key back yet: to the queue within it is unfinished.
        if (last instanceof AdaptedHeld) await last.answered
        await inner.return?.()
        return { done: true, value: undefined }
      },
    }
  }
}

/**
 * A limiter around any object with a queue's methods; its counts live in this process. The delays are
 * those of the queue within if it has delays, as in the original.
 */
export class AdaptedRateLimitingQueue<T>
  extends AdaptedDelayingQueue<T>
  implements RateLimitingQueue<T>
{
  readonly #limiter: LimiterInQueue<T>
  readonly #addAfter: DelayingQueue<T>['addAfter'] | undefined
  readonly #limits: HeldLimits<T> = {
    askAgain: (item, error) => this.#askAgain(item, error),
    failures: (item) => this.#failures(item),
    forget: (item) => this.#limiter.forget(item),
  }

  constructor(queue: ForeignQueue<T>, limiter: Limiter<T>, options: AdaptOptions<T>) {
    super(queue, options)
    this.#addAfter = queue.addAfter?.bind(queue)
    const { keyOf } = options
    // A limiter that a store could follow counts by key, as it does there; one of the user's sees items.
    const counted = (item: T): T =>
      limiter.plan === undefined || keyOf === undefined ? item : (keyOfItem(item, keyOf) as T)
    // Without its plan, since there is no store that could follow it.
    const unplanned: Limiter<T> = {
      when: (item) => limiter.when(counted(item)),
      forget: (item) => limiter.forget(counted(item)),
      numRequeues: (item) => limiter.numRequeues(counted(item)),
    }
    this.#limiter = new LimiterInQueue(unplanned, '', (error) => this.reports.report(error))
  }

  override get capabilities(): QueueCapabilities {
    return this.#addAfter === undefined ? super.capabilities : this.inner.capabilities
  }

  override async addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome> {
    if (this.#addAfter === undefined) return await super.addAfter(item, ms, options)
    checkAddAfter(ms, options)
    this.refuseWhenEnding(item)
    return await this.#addAfter(item, ms, options)
  }

  /** The queue within knows whether its addAfter still takes a key that a holder gives back. */
  protected override refuseWhenEnding(item: T): void {
    if (this.#addAfter === undefined) super.refuseWhenEnding(item)
    else keyOfItem(item, this.adapted.keyOf)
  }

  addRateLimited(item: T, options?: AddOptions): Promise<AddOutcome> {
    try {
      checkAddOptions(options)
      this.refuseWhenEnding(item)
      return this.addAfter(item, this.#limiter.delayOf(item).delayMs, options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async forget(item: T): Promise<ForgetOutcome> {
    const had = (await this.numRequeues(item)) > 0
    this.#limiter.forget(item)
    return had ? 'forgotten' : 'unchanged'
  }

  async numRequeues(item: T): Promise<number> {
    keyOfItem(item, this.adapted.keyOf)
    return this.#limiter.numRequeues(item) ?? 0
  }

  /** A limiter that fails must not keep a key from being handed out. */
  #failures(item: T): number {
    try {
      return this.#limiter.numRequeues(item) ?? 0
    } catch (error) {
      this.reports.report(error)
      return 0
    }
  }

  protected override adapt(held: Held<T>): Held<T> {
    return new AdaptedHeld(held, this.#limits)
  }

  async #askAgain(item: T, failure: unknown): Promise<boolean> {
    const after = retryAfter(failure)
    try {
      if (after === undefined) await this.addRateLimited(item)
      else {
        await this.addAfter(item, after.delayMs)
        // Counts the failure.
        this.#limiter.delayOf(item)
      }
      return true
    } catch (error) {
      const isOver = SluiceError.is(error, 'ERR_SHUT_DOWN') || SluiceError.is(error, 'ERR_CLOSED')
      if (!isOver) throw error
      return false
    }
  }

  override async done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome> {
    if (heldOrItem instanceof AdaptedHeld) return await heldOrItem.done(options)
    const outcome = await this.inner.done(heldOrItem, options)
    if (options?.forget === true && outcome !== 'lost') this.#limiter.forget(heldOrItem as T)
    return outcome
  }

  override async doneMany(
    helds: readonly Held<T>[],
    options?: DoneOptions,
  ): Promise<FinishOutcome[]> {
    if (!Array.isArray(helds)) throw new SluiceTypeError('helds', 'must be an array')
    return await allAnswered(Array.from(helds, (held: Held<T>) => this.done(held, options)))
  }
}
