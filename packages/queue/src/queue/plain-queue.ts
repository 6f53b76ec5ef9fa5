import {
  type AddOutcome,
  type Ask,
  type CancelOutcome,
  checkNumber,
  checkObject,
  checkSignal,
  decodeItem,
  delayMsMax,
  encodeItem,
  type FinishOutcome,
  isOwnKey,
  isPromise,
  keyOfItem,
  SluiceTypeError,
} from '@sluice/core'
import { transactionPart } from '#parts'
import type { QueueCore } from '../core/queue-core.ts'
import { storeNotOpen } from '../core/queue-errors.ts'
import { allAnswered, resolvedAdd, resolvedFinish, resolvedHeld } from '../core/resolved.ts'
import { Waiter, type WaiterGroup } from '../core/waiters.ts'
import type { DoneOptions, Held } from '../held/held.ts'
import { checkDoneOptions, HeldKey, type HeldPolicy } from '../held/held-key.ts'
import type { Inspect } from '../inspect/inspect.ts'
import { lateInspection } from '../inspect/late-inspection.ts'
import { checkAddOptions, checkCount } from './check-add.ts'
import { HeldIterator } from './held-iterator.ts'
import { ItemAdmission } from './item-admission.ts'
import { lateTransaction } from './late-transaction.ts'
import type { CheckedOptions } from './options.ts'
import type { AddOptions, CloseOptions, Queue, QueueCapabilities, WaitOptions } from './queue.ts'
import type { Within } from './within.ts'

/**
 * An add that is being put together: its key is empty, and its item unset, until they are known.
 */
export type AddDraft = { -readonly [Member in keyof Ask]: Ask[Member] }

function checkWaitOptions(options: WaitOptions | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined
  checkObject('options', options, ['signal'])
  return options.signal === undefined ? undefined : checkSignal('signal', options.signal)
}

/** The longest time that a close may wait for holders: a day. */
const graceMsMax = 86_400_000

function checkCloseOptions(options: CloseOptions | undefined, max: number): number | undefined {
  if (options === undefined) return undefined
  checkObject('options', options, ['graceMs'])
  const { graceMs } = options
  if (graceMs === undefined) return undefined
  return checkNumber('graceMs', graceMs, { min: 0, max })
}

/** The first layer, over a core that the layers above share. */
export class PlainQueue<T> implements Queue<T> {
  readonly core: QueueCore
  protected readonly policy: HeldPolicy
  readonly #options: CheckedOptions<T>
  readonly #admission: ItemAdmission<T> | undefined
  /**
   * A string item is its own key, and may be added without a limit: the direct queue can be used.
   */
  protected readonly isPlain: boolean
  #inspect: Inspect | undefined

  constructor(options: CheckedOptions<T>, core: QueueCore, policy: HeldPolicy) {
    this.#options = options
    this.core = core
    this.policy = policy
    const { keyOf, schema, maxPending, timeoutMs } = options
    this.#admission = schema === undefined ? undefined : new ItemAdmission(schema, timeoutMs)
    this.isPlain = keyOf === undefined && schema === undefined && maxPending === undefined
  }

  get name(): string {
    return this.core.calls.name
  }

  get capabilities(): QueueCapabilities {
    const { capabilities } = this.core.calls.driver
    return { ...capabilities, delays: 'store', dedupe: this.#options.dedupe }
  }

  get inspect(): Inspect {
    this.#inspect ??= lateInspection(() => this.core)
    return this.#inspect
  }

  /** The options this layer was made with, for the layers above. */
  get checkedOptions(): CheckedOptions<T> {
    return this.#options
  }

  add(item: T, options?: AddOptions): Promise<AddOutcome> {
    if (options === undefined && this.isPlain && typeof item === 'string') {
      const { direct } = this.core
      if (direct !== undefined) {
        try {
          const outcome =
            direct.isNoOp?.(item, 0) === true && isOwnKey(item)
              ? 'unchanged'
              : direct.add(keyOfItem(item), undefined, 0, this.core.calls.askOptions)
          this.core.noteAdded(outcome)
          return resolvedAdd(outcome)
        } catch (error) {
          return Promise.reject(error)
        }
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
   * Adds an item; throws where the item is not valid. Fills in the draft, since each copy of it
   * would take some 30 ns; `complete` fills in what counts only once the item is known to be valid.
   */
  protected ask(
    item: T,
    draft: AddDraft,
    givesBack: boolean,
    complete?: (item: T, draft: AddDraft) => void,
  ): Promise<AddOutcome> {
    const { keyOf, schema } = this.#options
    const trace = this.core.calls.callerTrace()
    if (trace !== undefined) draft.trace = trace
    if (keyOf === undefined && schema === undefined) {
      draft.key = keyOfItem(item)
      complete?.(item, draft)
      return this.core.add(draft, givesBack)
    }
    // Encoded before any wait, so that later changes to the item by the caller do not matter.
    this.#encode(item, draft)
    return this.#admitted([item], () => {
      complete?.(item, draft)
      return this.core.add(draft, givesBack)
    })
  }

  #encode(item: T, draft: AddDraft): AddDraft {
    const { key, text } = encodeItem(item, { keyOf: this.#options.keyOf })
    draft.key = key
    draft.item = text
    return draft
  }

  #encoded(item: T, priority: number, trace: string | undefined): AddDraft {
    return this.#encode(item, { key: '', item: undefined, priority, delayMs: 0, trace })
  }

  /** Calls `go`, after checking the items if there is a schema. */
  #admitted<R>(items: readonly T[], go: () => Promise<R>): Promise<R> {
    return this.#admission?.pass(items, go) ?? go()
  }

  /** The key of an item. */
  protected keyOf(item: T): string {
    return keyOfItem(item, this.#options.keyOf)
  }

  addMany(items: readonly T[], options?: AddOptions): Promise<AddOutcome[]> {
    try {
      const priority = checkAddOptions(options)
      if (!Array.isArray(items)) throw new SluiceTypeError('items', 'must be an array')
      return this.#addDirect(items, priority) ?? this.#addMany(items, priority)
    } catch (error) {
      return this.#refuse(error, items)
    }
  }

  async #refuse(error: unknown, items: readonly T[]): Promise<never> {
    const part = await transactionPart.get()
    return part.refuse(error, items, (item: T) => this.#encode(item, {} as AddDraft))
  }

  #addDirect(items: readonly T[], priority: number): Promise<AddOutcome[]> | undefined {
    const { direct, calls } = this.core
    if (direct === undefined || !this.isPlain) return undefined
    const outcomes = new Array<AddOutcome>(items.length)
    let merged = 0
    // All keys are checked before the first is added: bad input changes nothing. A string that is
    // its own key, as most are, is not kept twice for that.
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at]!
      if (typeof item !== 'string') return undefined
      if (direct.isNoOp?.(item, priority) === true && isOwnKey(item)) {
        outcomes[at] = 'unchanged'
        merged += 1
      } else if (keyOfItem<string>(item) !== item) return undefined
    }
    if (merged < items.length) {
      for (let at = 0; at < items.length; at += 1) {
        if (outcomes[at] !== undefined) continue
        const outcome = direct.add(items[at] as string, undefined, priority, calls.askOptions)
        outcomes[at] = outcome
        if (outcome === 'unchanged') merged += 1
      }
    }
    this.core.asked += items.length
    this.core.merged += merged
    if (merged < items.length) this.core.changed()
    return Promise.resolve(outcomes)
  }

  #addMany(items: readonly T[], priority: number): Promise<AddOutcome[]> {
    // Not map, which leaves out the holes of an array: each is refused as an item like any other.
    const trace = this.core.calls.callerTrace()
    const asks = Array.from(items, (item) => this.#encoded(item, priority, trace))
    return this.#admitted(items, () => {
      const { backend, phase } = this.core
      if (backend.addMany !== undefined && phase === 'open') return backend.addMany(asks)
      // A caller that catches an error must not find that other keys are added only afterwards.
      return allAnswered(asks.map((ask) => this.core.add(ask, false)))
    })
  }

  addSoon(item: T, options?: AddOptions): void {
    try {
      const { core } = this
      const ask = this.#encoded(item, checkAddOptions(options), core.calls.callerTrace())
      core.refuseWhenEnding(ask.key, false)
      const { direct } = core
      // Without a promise for each of the many adds that an event handler makes in one turn.
      if (direct !== undefined && this.isPlain) {
        core.noteAdded(direct.ask(ask, core.calls.askOptions).outcome)
        return
      }
      core.soon.push({
        ask,
        store: (user) => {
          // An add that was accepted before a shutdown is stored even after it.
          const go = () => core.addAccepted(ask, user)
          // A copy is checked, perhaps later: the caller may change the item after this call.
          return this.#admission?.pass([decodeItem(ask.key, ask.item) as T], go) ?? go()
        },
      })
    } catch (error) {
      this.core.calls.report(error)
    }
  }

  get(options?: WaitOptions): Promise<Held<T> | undefined> {
    try {
      const signal = checkWaitOptions(options)
      if (signal?.aborted !== true) {
        const held = this.core.claimDirect(this.policy)
        if (held !== undefined) return resolvedHeld(held as HeldKey<T>)
      }
      return this.#waitForOne(signal)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  // Apart from `get`: a function with a closure allocates what that refers to with every call.
  #waitForOne(signal: AbortSignal | undefined): Promise<Held<T> | undefined> {
    return new Promise((resolve, reject) => {
      const answer = resolve as (held: HeldKey<unknown> | undefined) => void
      this.core.wait(Waiter.forOne(this.policy, signal, answer, reject), signal)
    })
  }

  /** Takes a key for a waiter of a group; none once the group stops. */
  getFor(group: WaiterGroup): Promise<HeldKey<T> | undefined> {
    const held = this.core.claimDirect(this.policy)
    if (held !== undefined) return resolvedHeld(held as HeldKey<T>)
    return new Promise((resolve, reject) => {
      const answer = resolve as (held: HeldKey<unknown> | undefined) => void
      this.core.wait(Waiter.forGroup(this.policy, group, answer, reject), undefined)
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
      this.core.wait(Waiter.forMany(n, this.policy, signal, answer, reject), signal)
    })
  }

  done(heldOrItem: Held<T> | T, options?: DoneOptions): Promise<FinishOutcome> {
    try {
      if (heldOrItem instanceof HeldKey) {
        return heldOrItem.owner === this.core ? heldOrItem.done(options) : resolvedFinish('lost')
      }
      checkDoneOptions(options)
      const held = this.core.helds.oldest(this.keyOf(heldOrItem as T))
      return held === undefined ? resolvedFinish('lost') : held.done(options)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Promise<FinishOutcome[]> {
    try {
      const forgets = checkDoneOptions(options)
      if (!Array.isArray(helds)) throw new SluiceTypeError('helds', 'must be an array')
      // All are checked before the first is finished: bad input changes nothing.
      for (const held of helds) if (!(held instanceof HeldKey)) this.keyOf(held as T)
      const { direct } = this.core
      if (direct !== undefined) {
        const outcomes = new Array<FinishOutcome>(helds.length)
        for (let at = 0; at < helds.length; at += 1) {
          outcomes[at] = this.#heldOf(helds[at]!)?.doneDirect(direct, forgets) ?? 'lost'
        }
        return Promise.resolve(outcomes)
      }
      const { backend } = this.core
      return backend.doneMany === undefined
        ? allAnswered(Array.from(helds, (held: Held<T>) => this.done(held, options)))
        : backend.doneMany(helds.length, (at) => this.#heldOf(helds[at]!), forgets)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #heldOf(heldOrItem: Held<T> | T): HeldKey<unknown> | undefined {
    if (!(heldOrItem instanceof HeldKey)) {
      return this.core.helds.oldest(this.keyOf(heldOrItem as T))
    }
    return heldOrItem.owner === this.core ? (heldOrItem as HeldKey<unknown>) : undefined
  }

  within<Transaction extends object>(transaction: Transaction): Within<T, Transaction> {
    // The transactions of some libraries are functions with methods.
    if (typeof transaction !== 'function') checkObject('transaction', transaction)
    const { driver } = this.core.calls
    if (driver.transact === undefined) {
      throw new SluiceTypeError(
        'transaction',
        `cannot be used: the driver ${driver.name} takes part in no transactions`,
      )
    }
    if (this.core.phase === 'closed') throw this.core.calls.closedError()
    const opening = this.core.calls.open()
    if (isPromise(opening)) {
      // Each verb opens the store again, and rejects with the error of that attempt.
      opening.catch(() => undefined)
      if (driver.capabilities.transact === 'sync') throw storeNotOpen(this.name)
    }
    const verbs = driver.transact(transaction)
    return lateTransaction(this.core, this.#options, verbs) as Within<T, Transaction>
  }

  async cancel(item: T): Promise<CancelOutcome> {
    return await this.core.cancel(this.keyOf(item))
  }

  wake(): void {
    this.core.calls.quiet.noteWork()
    this.core.wake()
  }

  async len(): Promise<number> {
    if (this.core.phase === 'closed') throw this.core.calls.closedError()
    return await this.core.backend.len()
  }

  async shutDown(): Promise<void> {
    await this.core.lifecycle.shutDown()
  }

  async shutDownWithDrain(options?: WaitOptions): Promise<void> {
    await this.core.lifecycle.drain(checkWaitOptions(options))
  }

  get shuttingDown(): boolean {
    return this.core.phase !== 'open'
  }

  /** `leftMs`: how long it may take at most, for callers that have used up a part of the time. */
  async close(options?: CloseOptions, leftMs?: number): Promise<void> {
    // Signals give queues as long as workers, whose grace may be longer.
    const graceMs = checkCloseOptions(options, leftMs === undefined ? graceMsMax : delayMsMax)
    if (leftMs !== undefined) checkNumber('leftMs', leftMs)
    await this.core.lifecycle.close(graceMs, leftMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Held<T>> {
    return new HeldIterator<T>(this.core, this.policy)
  }
}
