import {
  type AddOutcome,
  type Awaitable,
  type BucketRow,
  bookNamePrefix,
  type Capabilities,
  checkDelay,
  checkKey,
  checkObject,
  checkPriority,
  checkQueueName,
  type Driver,
  decodeItem,
  describeValue,
  type EncodedItem,
  type EpochMs,
  encodeItem,
  isPromise,
  lastSeenDedupe,
  priorityDefault,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import { makeCore } from '../core/make-core.ts'
import type { QueueCore } from '../core/queue-core.ts'
import { DriverHandle, type HandleUser } from '../driver/driver-handle.ts'
import { isPermanent } from '../driver/retryable.ts'
import { answeredIn, inTime } from '../environment/timing.ts'
import { type CheckedOptions, checkQueueOptions, quietAfterMsMin } from '../queue/options.ts'
import type { Inspect } from './inspect.ts'
import { noPage, QueueInspection } from './queue-inspection.ts'
import { shownBuckets, shownList } from './shown-instants.ts'
import type { InspectStoreOptions, OperatorAsk, StoreInspection } from './store-inspection.ts'

/** How many queues are kept open; beyond that, the one used longest ago makes room. */
const queuesMax = 1_000

/** A whole store, shared with the queues of this process. */
class WholeStore implements StoreInspection, HandleUser {
  /** No queue has this name, so that none takes it for a neighbour. */
  readonly name = '\0'
  readonly driver: string
  readonly capabilities: Capabilities
  readonly #driver: Driver
  readonly #store: DriverHandle
  readonly #options: InspectStoreOptions
  readonly #defaults: CheckedOptions<unknown>
  /** The cores of queues, those that were used last at the end. */
  readonly #cores: Map<string, QueueCore> = new Map()
  #closed: Promise<void> | undefined

  constructor(driver: Driver, options: InspectStoreOptions) {
    this.#defaults = checkQueueOptions<unknown>({
      ...options,
      driver,
      name: 'any',
      ref: false,
      // Nothing waits for keys here, so that the store need not be watched.
      quietAfterMs: quietAfterMsMin,
    })
    this.#options = options
    this.#driver = driver
    this.driver = driver.name
    this.capabilities = driver.capabilities
    this.#store = DriverHandle.of(driver, options.clock)
    this.#store.join(this)
  }

  wake(): void {
    // No waiter is here.
  }

  report(): void {
    // Every call of an inspection returns its own error.
  }

  #core(name: string): QueueCore {
    if (this.#closed !== undefined) throw this.#closedError()
    let core = this.#cores.get(name)
    if (core === undefined) {
      this.#makeRoom()
      core = makeCore({ ...this.#defaults, name })
      // Nothing is retried from here.
      if (this.#options.limiter === undefined) core.plans.retry = undefined
    } else {
      this.#cores.delete(name)
    }
    this.#cores.set(name, core)
    return core
  }

  #makeRoom(): void {
    if (this.#cores.size < queuesMax) return
    for (const [name, core] of this.#cores) {
      this.#cores.delete(name)
      // The store stays open, so there is nothing to wait for and nothing that can fail.
      void core.lifecycle.close(0)
      return
    }
  }

  #closedError(): SluiceError {
    return new SluiceError(
      'ERR_CLOSED',
      `cannot look into the store of ${this.driver}: the inspection was closed; make a new one`,
    )
  }

  async #look<R>(look: () => Awaitable<R>): Promise<R> {
    if (this.#closed !== undefined) throw this.#closedError()
    const { timeoutMs } = this.#defaults
    const opening = this.#store.open()
    const late = () => this.#store.notInTime('open the store')
    if (isPromise(opening)) await answeredIn(opening, timeoutMs, late)
    try {
      return await inTime(look(), timeoutMs, 'look into the store')
    } catch (error) {
      // A driver that is closed fails the calls in flight, in words of its own.
      if (this.#closed !== undefined) throw this.#closedError()
      throw error
    }
  }

  async queues(): Promise<readonly string[]> {
    const driver = this.#driver
    if (driver.queues === undefined) {
      throw new SluiceTypeError(
        'driver',
        `cannot list the queues: ${driver.name} has no list; name them`,
      )
    }
    const names = await this.#look(() => driver.queues?.() ?? [])
    return names.filter((name) => !name.startsWith(bookNamePrefix)).sort()
  }

  queue(name: string): Inspect {
    const { durable, shared } = this.capabilities
    checkQueueName('name', name, { empty: !durable && !shared })
    return new QueueInspection(() => this.#core(name))
  }

  async buckets(): Promise<readonly BucketRow[]> {
    const buckets = await this.#look(() => this.#driver.buckets?.() ?? [])
    const byName = [...buckets].sort((a, b) => (a.name < b.name ? -1 : 1))
    return shownBuckets(this.#driver, byName)
  }

  async now(): Promise<EpochMs> {
    for (const name of this.#cores.keys()) {
      try {
        return await this.#nowBy(name)
      } catch (error) {
        // A queue of a newer layout, or one that is damaged: the others are read all the same.
        if (!isPermanent(error)) throw error
      }
    }
    return await this.#nowBy('any')
  }

  async #nowBy(queue: string): Promise<EpochMs> {
    const reply = await this.#look(() => this.#driver.list(queue, noPage))
    return shownList(this.#driver, reply).now
  }

  async add(queue: string, ask: OperatorAsk): Promise<AddOutcome> {
    const inspect = this.queue(queue) as QueueInspection
    const { afterMs, priority } = checkAsk(ask)
    const { key, text } =
      ask.item === undefined ? await storedOrOwn(inspect, ask.key) : given(ask.item, ask.key)
    const workers = this.capabilities.workers ? await inspect.workers() : []
    const core = this.#core(queue)
    const dedupe = lastSeenDedupe(workers)
    if (dedupe !== undefined) core.calls.askOptions = { ...core.calls.askOptions, dedupe }
    return await core.add({ key, item: text, priority, delayMs: afterMs }, false)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const cores = [...this.#cores.values()]
    this.#cores.clear()
    await Promise.all(cores.map((core) => core.lifecycle.close(0)))
    await inTime(this.#store.leave(this), this.#defaults.timeoutMs, 'wait for the store to close')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function checkAsk(ask: OperatorAsk): { afterMs: number; priority: number } {
  checkObject('ask', ask, ['key', 'item', 'afterMs', 'priority'])
  const { key, item, afterMs = 0, priority = priorityDefault } = ask
  if (key !== undefined) checkKey('ask.key', key)
  else if (item === undefined) throw new SluiceTypeError('ask', 'must have a key or an item')
  checkPriority('ask.priority', priority)
  return { afterMs: checkDelay('ask.afterMs', afterMs), priority }
}

function given(item: unknown, key: string | undefined): EncodedItem {
  return encodeItem(item, key === undefined ? {} : { keyOf: () => key })
}

/** The item that is stored of a key; a key that is not stored is its own item. */
async function storedOrOwn(inspect: QueueInspection, key = ''): Promise<EncodedItem> {
  const { row } = await inspect.row(key)
  if (row !== undefined) {
    // One that is lost must not become the key, which a driver takes for the item where it gets none.
    decodeItem(key, row.item)
    return { key, text: row.item }
  }
  let item: unknown
  try {
    item = decodeItem(key, undefined)
  } catch {
    throw new SluiceTypeError(
      'ask.key',
      `must go on with JSON after 'json:', or come with an item; got ${describeValue(key)}`,
    )
  }
  return encodeItem(item, {})
}

/**
 * Inspects a whole store through its driver. Nothing is opened before the first call; the store
 * is shared with the queues of this process, and closed with the last that uses it.
 *
 * Throws for bad options only.
 */
export function inspectStore(driver: Driver, options: InspectStoreOptions = {}): StoreInspection {
  checkObject('options', options, ['clock', 'limiter'])
  checkObject('driver', driver)
  return new WholeStore(driver, options)
}
