import {
  type AddOutcome,
  type Ask,
  type AskReply,
  type Awaitable,
  batchKeysMax,
  type DriverTransaction,
  encodeItem,
  type Failure,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { inTime } from '../environment/timing.ts'
import type { DoneOptions, Held } from '../held/held.ts'
import { checkDoneOptions, HeldKey } from '../held/held-key.ts'
import { checkAddAfter, checkAddOptions } from './check-add.ts'
import type { CheckedOptions } from './options.ts'
import type { AddAfterOptions, AddOptions } from './queue.ts'
import { accepted, isLate } from './schema.ts'

function then<A, B>(answer: Awaitable<A>, next: (answer: A) => B): Awaitable<B> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}

/**
 * The verbs of a queue inside a transaction of the caller's. With a synchronous driver they throw;
 * with any other they reject, and open the store first if it is not open.
 */
export class QueueTransaction<T> {
  readonly #core: QueueCore
  readonly #options: CheckedOptions<T>
  readonly #verbs: DriverTransaction

  constructor(core: QueueCore, options: CheckedOptions<T>, verbs: DriverTransaction) {
    this.#core = core
    this.#options = options
    this.#verbs = verbs
  }

  add(item: T, options?: AddOptions): Awaitable<AddOutcome> {
    return this.#verb(() => {
      const ask = this.#ask(item, { priority: checkAddOptions(options), delayMs: 0 })
      return this.#one(ask)
    })
  }

  addMany(items: readonly T[], options?: AddOptions): Awaitable<AddOutcome[]> {
    return this.#verb(() => {
      const priority = checkAddOptions(options)
      if (!Array.isArray(items)) throw new SluiceTypeError('items', 'must be an array')
      return this.#add(Array.from(items, (item: T) => this.#ask(item, { priority, delayMs: 0 })))
    })
  }

  addAfter(item: T, ms: number, options?: AddAfterOptions): Awaitable<AddOutcome> {
    return this.#verb(() => this.#one(this.#ask(item, checkAddAfter(ms, options), true)))
  }

  done(held: Held<T>, options?: DoneOptions): Awaitable<FinishOutcome> {
    return this.#verb(() => {
      const forgets = checkDoneOptions(options)
      return this.#finish(held, this.#held(held).doneFinish(forgets, undefined))
    })
  }

  retry(held: Held<T>, error?: unknown): Awaitable<FinishOutcome> {
    return this.#verb(() => this.#finish(held, this.#held(held).retryFinish(error)))
  }

  /** Runs a verb now, up to its first wait; an error is a rejection where verbs are awaited. */
  #verb<R>(work: () => Awaitable<R>): Awaitable<R> {
    if (this.#core.calls.driver.capabilities.transact === 'sync') return work()
    return (async () => await work())()
  }

  /** Makes a call of the driver as soon as the store is open. */
  #opened<R>(send: () => Awaitable<R>): Awaitable<R> {
    const { timeoutMs } = this.#core.calls.options
    return then(inTime(this.#core.calls.open(), timeoutMs, 'open the store'), send) as Awaitable<R>
  }

  #ask(item: T, details: Omit<Ask, 'key' | 'item'>, givesBack = false): Ask {
    const { keyOf, schema } = this.#options
    const { key, text } = encodeItem(item, { keyOf })
    this.#core.refuseWhenEnding(key, givesBack)
    if (schema !== undefined) {
      const answer = schema['~standard'].validate(item)
      if (isLate(answer)) {
        throw new SluiceTypeError('schema', 'must be synchronous to be used in a transaction')
      }
      accepted(answer)
    }
    return { ...details, key, item: text, trace: this.#core.calls.callerTrace() }
  }

  #one(ask: Ask): Awaitable<AddOutcome> {
    return then(this.#add([ask]), (outcomes) => outcomes[0] as AddOutcome)
  }

  /** Adds in steps of different keys, one after the other. */
  #add(asks: readonly Ask[]): Awaitable<AddOutcome[]> {
    const step = new Map<string, Ask>()
    let at = 0
    for (const ask of asks) {
      if (step.has(ask.key) || step.size >= batchKeysMax) break
      step.set(ask.key, ask)
      at += 1
    }
    if (at === 0) return []
    const { name, askOptions } = this.#core.calls
    const first = [...step.values()]
    const answer = this.#opened(() =>
      this.#core.calls.call('add', { asks: first, options: askOptions }, () =>
        this.#verbs.add(name, first, askOptions),
      ),
    )
    return then(answer, (replies) => {
      const outcomes = replies.map((reply) => this.#outcome(reply))
      this.#core.wakeSoon()
      return then(this.#add(asks.slice(at)), (rest) => [...outcomes, ...rest])
    }) as Awaitable<AddOutcome[]>
  }

  #outcome(reply: AskReply | Failure): AddOutcome {
    if (reply.outcome === 'failed') throw reply.error
    if (reply.outcome === 'full') throw this.#core.fullError()
    return reply.outcome
  }

  #held(held: Held<T>): HeldKey<T> {
    if (!(held instanceof HeldKey) || held.owner !== this.#core) {
      throw new SluiceTypeError('held', 'must be a Held that this queue handed out')
    }
    const isClosed = this.#core.phase === 'closed'
    if (held.phase !== 'held' || isClosed) throw this.#lostError(held.key)
    return held
  }

  #lostError(key: string): SluiceError {
    return new SluiceError(
      'ERR_LEASE_LOST',
      `cannot give back key ${JSON.stringify(key)}: it is not held under this token any more; roll ` +
        'the transaction back',
    )
  }

  #finish(held: Held<T>, finish: Finish): Awaitable<FinishOutcome> {
    const { name, askOptions } = this.#core.calls
    const finishes = [finish]
    const answer = this.#opened(() =>
      this.#core.calls.call('finish', { finishes, options: askOptions }, () =>
        this.#verbs.finish(name, finishes, askOptions),
      ),
    )
    return then(answer, (replies) => {
      const reply = replies[0] as FinishReply | Failure
      if (reply.outcome === 'failed') throw reply.error
      if (reply.outcome === 'lost') throw this.#lostError(held.key)
      if (finish.as === 'done' && finish.forget) this.#core.plans.forget(held)
      this.#core.backend.leases?.commitWatch.add(held as HeldKey<unknown>)
      this.#core.wakeSoon()
      return reply.outcome
    })
  }
}
