import {
  type AddOutcome,
  type Ask,
  batchKeysMax,
  type CancelOutcome,
  checkNumber,
  checkObject,
  checkSignal,
  encodeItem,
  type FinishOutcome,
  isOwnKey,
  keyOfItem,
  SluiceTypeError,
  sluiceChannel,
} from '@sluice/core'
import { checkAddOptions } from './add-options.ts'
import { Engine } from './engine.ts'
import type { DoneOptions, Held } from './held.ts'
import { HeldIterator } from './held-iterator.ts'
import { checkDoneOptions, HeldKey, type HeldPolicy } from './held-key.ts'
import type { Inspect } from './inspect.ts'
import { ItemAdmission } from './item-admission.ts'
import { askMany, doneMany } from './many.ts'
import type { CheckedOptions } from './options.ts'
import { pause } from './pause.ts'
import type { AddOptions, CloseOptions, Queue, QueueCapabilities, WaitOptions } from './queue.ts'
import { QueueInspection } from './queue-inspection.ts'
import { QueueTransaction } from './queue-transaction.ts'
import { storeNotOpen } from './refusals.ts'
import { settledAdd, settledCancel, settledFinish } from './settled.ts'
import { SoonBuffer } from './soon-buffer.ts'
import { type Crew, Waiter } from './waiters.ts'
import type { Within } from './within.ts'

/** An ask that is being put together: its key is empty, and its item unset, until they are known. */
export type AskDraft = { -readonly [Member in keyof Ask]: Ask[Member] }

function checkWaitOptions(options: WaitOptions | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined
  checkObject('options', options, ['signal'])
  return options.signal === undefined ? undefined : checkSignal('options.signal', options.signal)
}

/** How long a close may wait for holders at the most: a day. */
const graceMsMax = 86_400_000

function checkCloseOptions(options: CloseOptions | undefined): number | undefined {
  if (options === undefined) return undefined
  checkObject('options', options, ['graceMs'])
  const { graceMs } = options
  if (graceMs === undefined) return undefined
  return checkNumber('options.graceMs', graceMs, { min: 0, max: graceMsMax })
}

/** How many keys one call may wait for at the most. */
function checkCount(n: number): number {
  return checkNumber('n', n, { min: 1, max: batchKeysMax, integer: true })
}

/** The first layer, over an engine that the layers above share. */
export class PlainQueue<T> implements Queue<T> {
  readonly engine: Engine
  protected readonly policy: HeldPolicy
  readonly #options: CheckedOptions<T>
  readonly #soon: SoonBuffer
  readonly #admission: ItemAdmission<T> | undefined
  /** A string item is its own key, and may be added without a limit: the short way is open. */
  protected readonly isPlain: boolean
  #inspect: Inspect | undefined

  constructor(options: CheckedOptions<T>, engine: Engine, policy: HeldPolicy) {
    this.#options = options
    this.engine = engine
    this.policy = policy
    const { keyOf, schema, maxPending, timeoutMs } = options
    this.#admission = schema === undefined ? undefined : new ItemAdmission(schema, timeoutMs)
    this.isPlain = keyOf === undefined && schema === undefined && maxPending === undefined
    this.#soon = new SoonBuffer({
      report: (error) => engine.report(error),
      reportTrouble: (error) => engine.reportTrouble(error),
      pause,
      closedError: () => engine.closedError(),
      leaveGate: (user) => engine.store.gate.leave(user),
    })
    engine.ending.beforeClose.push(() => this.#soon.flush())
  }

  get name(): string {
    return this.engine.name
  }

  get capabilities(): QueueCapabilities {
    const { capabilities } = this.engine.driver
    return { ...capabilities, delays: 'store', dedupe: this.#options.dedupe }
  }

  get inspect(): Inspect {
    this.#inspect ??= new QueueInspection(() => this.engine)
    return this.#inspect
  }

  /** The options this layer was made with, for the layers above. */
  get checkedOptions(): CheckedOptions<T> {
    return this.#options
  }

  add(item: T, options?: AddOptions): Promise<AddOutcome> {
    if (options === undefined && this.isPlain && typeof item === 'string') {
      const { hot } = this.engine
      if (hot !== undefined && !sluiceChannel.hasSubscribers) {
        let outcome: AddOutcome
        try {
          outcome =
            hot.isNoOp?.(item, 0) === true && isOwnKey(item)
              ? 'unchanged'
              : hot.add(keyOfItem(item), undefined, 0, this.engine.askOptions)
        } catch (error) {
          return Promise.reject(error)
        }
        this.engine.asked += 1
        if (outcome === 'added' || outcome === 'moved') this.engine.changed()
        else this.engine.unchanged(outcome)
        return settledAdd(outcome)
      }
    }
    try {
      const priority = checkAddOptions(options)
      return this.ask(item, { key: '', item: undefined, priority, delayMs: 0 }, false)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Asks for a run of an item's key; throws where the item is no good. Fills in the draft, since
   * each copy of it would take some 30 ns.
   */
  protected ask(item: T, draft: AskDraft, givesBack: boolean): Promise<AddOutcome> {
    const { keyOf, schema } = this.#options
    if (keyOf === undefined && schema === undefined) {
      if (draft.key === '') draft.key = keyOfItem(item)
      return this.engine.ask(draft, givesBack)
    }
    // Encoded before any wait, so that what the caller changes afterwards does not matter.
    this.#encode(item, draft)
    return this.#admitted([item], () => this.engine.ask(draft, givesBack))
  }

  #encode(item: T, draft: AskDraft): Ask {
    const { key, text } = encodeItem(item, { keyOf: this.#options.keyOf })
    draft.key = key
    draft.item = text
    return draft
  }

  #encoded(item: T, priority: number): Ask {
    return this.#encode(item, { key: '', item: undefined, priority, delayMs: 0 })
  }

  /** Calls `go`, after checking the items if there is a schema. */
  #admitted<R>(items: readonly T[], go: () => Promise<R>): Promise<R> {
    return this.#admission === undefined ? go() : this.#admission.pass(items, go)
  }

  /** The key of an item. */
  protected keyOf(item: T): string {
    return keyOfItem(item, this.#options.keyOf)
  }

  addMany(items: readonly T[], options?: AddOptions): Promise<AddOutcome[]> {
    try {
      const priority = checkAddOptions(options)
      if (!Array.isArray(items)) throw new SluiceTypeError('items', 'must be an array')
      return this.#addHot(items, priority) ?? this.#addMany(items, priority)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #addHot(items: readonly T[], priority: number): Promise<AddOutcome[]> | undefined {
    const { hot, askOptions } = this.engine
    if (hot === undefined || !this.isPlain || sluiceChannel.hasSubscribers) return undefined
    const outcomes = new Array<AddOutcome>(items.length)
    let merged = 0
    // All keys are checked before the first is added: bad input changes nothing. A string that is
    // its own key, as most are, is not kept twice for that.
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at]!
      if (typeof item !== 'string') return undefined
      if (hot.isNoOp?.(item, priority) === true && isOwnKey(item)) {
        outcomes[at] = 'unchanged'
        merged += 1
      } else if (keyOfItem<string>(item) !== item) return undefined
    }
    if (merged < items.length) {
      for (let at = 0; at < items.length; at += 1) {
        if (outcomes[at] !== undefined) continue
        const outcome = hot.add(items[at] as string, undefined, priority, askOptions)
        outcomes[at] = outcome
        if (outcome === 'unchanged') merged += 1
      }
    }
    this.engine.asked += items.length
    this.engine.merged += merged
    if (merged < items.length) this.engine.changed()
    return Promise.resolve(outcomes)
  }

  #addMany(items: readonly T[], priority: number): Promise<AddOutcome[]> {
    // Not map, which leaves out the holes of an array: each is refused as an item like any other.
    const asks = Array.from(items, (item) => this.#encoded(item, priority))
    return this.#admitted(items, () => askMany(this.engine, asks))
  }

  addSoon(item: T, options?: AddOptions): void {
    try {
      const priority = checkAddOptions(options)
      const ask = this.#encoded(item, priority)
      this.engine.refuseWhenEnding(ask.key, false)
      const { engine } = this
      const admitted = (go: () => Promise<AddOutcome>): Promise<AddOutcome> =>
        this.#admitted([item], go)
      this.#soon.push({
        key: ask.key,
        priority,
        // What was accepted before a shutdown is stored after it all the same.
        store(user) {
          return admitted(() => engine.askAccepted({ ...ask, priority: this.priority }, user))
        },
      })
    } catch (error) {
      this.engine.report(error)
    }
  }

  get(options?: WaitOptions): Promise<Held<T> | undefined> {
    let signal: AbortSignal | undefined
    try {
      signal = checkWaitOptions(options)
    } catch (error) {
      return Promise.reject(error)
    }
    if (signal?.aborted !== true) {
      const held = this.engine.takeHot(this.policy)
      if (held !== undefined) return Promise.resolve(held as HeldKey<T>)
    }
    return new Promise((resolve, reject) => {
      const answer = resolve as (held: HeldKey<unknown> | undefined) => void
      this.engine.wait(Waiter.forOne(this.policy, signal, answer, reject), signal)
    })
  }

  /** Takes a key for one of a crew; none once the crew stops. */
  getFor(crew: Crew): Promise<HeldKey<T> | undefined> {
    const held = this.engine.takeHot(this.policy)
    if (held !== undefined) return Promise.resolve(held as HeldKey<T>)
    return new Promise((resolve, reject) => {
      const answer = resolve as (held: HeldKey<unknown> | undefined) => void
      this.engine.wait(Waiter.forCrew(this.policy, crew, answer, reject), undefined)
    })
  }

  getMany(n: number, options?: WaitOptions): Promise<Held<T>[]> {
    let signal: AbortSignal | undefined
    try {
      checkCount(n)
      signal = checkWaitOptions(options)
    } catch (error) {
      return Promise.reject(error)
    }
    return new Promise((resolve, reject) => {
      const answer = resolve as (helds: HeldKey<unknown>[]) => void
      this.engine.wait(Waiter.forMany(n, this.policy, signal, answer, reject), signal)
    })
  }

  done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome> {
    try {
      if (heldOrItem instanceof HeldKey) {
        return heldOrItem.engine === this.engine ? heldOrItem.done(options) : settledFinish('lost')
      }
      checkDoneOptions(options)
      const held = this.engine.helds.oldest(this.keyOf(heldOrItem as T))
      return held === undefined ? settledFinish('lost') : held.done(options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Promise<FinishOutcome[]> {
    let forgets: boolean
    try {
      forgets = checkDoneOptions(options)
      if (!Array.isArray(helds)) throw new SluiceTypeError('helds', 'must be an array')
      // All are checked before the first is finished: bad input changes nothing.
      for (const held of helds) if (!(held instanceof HeldKey)) this.keyOf(held as T)
    } catch (error) {
      return Promise.reject(error)
    }
    const { hot } = this.engine
    if (hot !== undefined && !sluiceChannel.hasSubscribers) {
      const outcomes = new Array<FinishOutcome>(helds.length)
      for (let at = 0; at < helds.length; at += 1) {
        outcomes[at] = this.#heldOf(helds[at]!)?.doneNow(hot, forgets) ?? 'lost'
      }
      return Promise.resolve(outcomes)
    }
    if (this.engine.path.finishMany === undefined) {
      return Promise.all(Array.from(helds, (held: Held<T>) => this.done(held, options)))
    }
    return doneMany(this.engine, helds.length, (at) => this.#heldOf(helds[at]!), forgets)
  }

  #heldOf(heldOrItem: Held<T> | T): HeldKey<unknown> | undefined {
    if (!(heldOrItem instanceof HeldKey)) {
      return this.engine.helds.oldest(this.keyOf(heldOrItem as T))
    }
    return heldOrItem.engine === this.engine ? (heldOrItem as HeldKey<unknown>) : undefined
  }

  within<Transaction extends object>(transaction: Transaction): Within<T, Transaction> {
    checkObject('transaction', transaction)
    const { driver } = this.engine
    if (driver.transact === undefined) {
      throw new SluiceTypeError(
        'transaction',
        `cannot be used: the driver ${driver.name} takes part in no transactions`,
      )
    }
    if (this.engine.phase === 'closed') throw this.engine.closedError()
    const opening = this.engine.open()
    if (opening instanceof Promise) {
      // Each verb opens the store again, and answers with what this attempt failed with.
      opening.catch(() => undefined)
      if (driver.capabilities.transact === 'sync') throw storeNotOpen(this.name)
    }
    const verbs = driver.transact(transaction)
    return new QueueTransaction<T>(this.engine, this.#options, verbs) as Within<T, Transaction>
  }

  cancel(item: T): Promise<CancelOutcome> {
    try {
      const key = this.keyOf(item)
      if (this.engine.phase === 'closed') throw this.engine.closedError()
      const answer = this.engine.path.cancel(key)
      return answer instanceof Promise ? answer : settledCancel(answer)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async len(): Promise<number> {
    if (this.engine.phase === 'closed') throw this.engine.closedError()
    return await this.engine.path.len()
  }

  async shutDown(): Promise<void> {
    await this.engine.ending.shutDown()
  }

  async shutDownWithDrain(options?: WaitOptions): Promise<void> {
    await this.engine.ending.drain(checkWaitOptions(options))
  }

  get shuttingDown(): boolean {
    return this.engine.phase !== 'open'
  }

  /** `leftMs`: how long it may take at most, for callers that have used up a part of the time. */
  async close(options?: CloseOptions, leftMs?: number): Promise<void> {
    await this.engine.ending.close(checkCloseOptions(options), leftMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<Held<T>, undefined, undefined> {
    return new HeldIterator<T>(this.engine, this.policy)
  }
}

/** Makes an engine for options whose items it never looks into. */
export function engineFor<T>(options: CheckedOptions<T>): Engine {
  return new Engine(options as unknown as CheckedOptions<unknown>)
}
