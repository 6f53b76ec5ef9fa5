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
  isPromise,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { refuse } from '../core/refuse.ts'
import { answeredIn } from '../environment/timing.ts'
import type { DoneOptions, Held } from '../held/held.ts'
import { checkDoneOptions, HeldKey } from '../held/held-key.ts'
import { checkAddAfter, checkAddOptions } from './check-add.ts'
import type { CheckedOptions } from './options.ts'
import type { AddAfterOptions, AddOptions } from './queue.ts'
import { accepted, isLate } from './schema.ts'

function then<A, B>(answer: Awaitable<A>, next: (answer: A) => B): Awaitable<B> {
  return isPromise(answer) ? answer.then(next) : next(answer)
}

/** As many parts from this index on as one call takes. */
function stepFrom<Part extends Ask | Finish>(parts: readonly Part[], from: number): Part[] {
  const step = new Map<string, Part>()
  for (let at = from; at < parts.length && step.size < batchKeysMax; at += 1) {
    const part = parts[at] as Part
    if (step.has(part.key)) break
    step.set(part.key, part)
  }
  return [...step.values()]
}

function first<Outcome>(outcomes: readonly Outcome[]): Outcome {
  return outcomes[0] as Outcome
}

export { refuse }

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
    return then(this.addMany([item], options), first)
  }

  addMany(items: readonly T[], options?: AddOptions): Awaitable<AddOutcome[]> {
    return this.#verb(() => {
      const priority = checkAddOptions(options)
      if (!Array.isArray(items)) throw new SluiceTypeError('items', 'must be an array')
      const ask = (item: T): Ask => this.#ask(item, { priority, delayMs: 0 })
      try {
        return this.#add(Array.from(items, ask))
      } catch (error) {
        return refuse(error, items, ask)
      }
    })
  }

  addAfter(item: T, ms: number, options?: AddAfterOptions): Awaitable<AddOutcome> {
    return this.#verb(() =>
      then(this.#add([this.#ask(item, checkAddAfter(ms, options), true)]), first),
    )
  }

  done(held: Held<T>, options?: DoneOptions): Awaitable<FinishOutcome> {
    return then(this.doneMany([held], options), first)
  }

  doneMany(helds: readonly Held<T>[], options?: DoneOptions): Awaitable<FinishOutcome[]> {
    return this.#verb(() => {
      const forgets = checkDoneOptions(options)
      if (!Array.isArray(helds)) throw new SluiceTypeError('helds', 'must be an array')
      const finishes = Array.from(helds, (held: Held<T>) =>
        this.#held(held).doneFinish(forgets, undefined),
      )
      return this.#finish(helds, finishes)
    })
  }

  retry(held: Held<T>, error?: unknown): Awaitable<FinishOutcome> {
    return this.#verb(() =>
      then(this.#finish([held], [this.#held(held).retryFinish(error)]), first),
    )
  }

  /** Runs a verb now, up to its first wait; an error is a rejection where verbs are awaited. */
  #verb<R>(work: () => Awaitable<R>): Awaitable<R> {
    if (this.#core.calls.driver.capabilities.transact === 'sync') return work()
    return (async () => await work())()
  }

  #ask(item: T, details: Omit<Ask, 'key' | 'item'>, givesBack = false): Ask {
    const { keyOf, schema } = this.#options
    const { key, text } = encodeItem(item, { keyOf })
    this.#core.refuseWhenEnding(key, givesBack)
    if (schema !== undefined) {
      const answer = schema['~standard'].validate(item)
      if (isLate(answer)) {
        throw new SluiceTypeError('schema', 'must be synchronous in a transaction')
      }
      accepted(answer)
    }
    return { ...details, key, item: text, trace: this.#core.calls.callerTrace() }
  }

  #add(asks: readonly Ask[]): Awaitable<AddOutcome[]> {
    const { calls } = this.#core
    const { name, askOptions: options } = calls
    const send = (step: readonly Ask[]) =>
      calls.call('add', { asks: step, options }, () => this.#verbs.add(name, step, options))
    return this.#inSteps(asks, send, ({ outcome }: AskReply) => {
      if (outcome === 'full') throw this.#core.fullError()
      return outcome
    })
  }

  /** Makes calls that name each key once, one after the other. */
  #inSteps<Part extends Ask | Finish, Reply extends AskReply | FinishReply, Outcome>(
    parts: readonly Part[],
    send: (step: readonly Part[]) => Awaitable<readonly (Reply | Failure)[]>,
    outcomeOf: (reply: Reply, index: number) => Outcome,
  ): Awaitable<Outcome[]> {
    const { calls } = this.#core
    const outcomes: Outcome[] = []
    let at = 0
    const next = (): Awaitable<readonly (Reply | Failure)[]> => {
      const step = stepFrom(parts, at)
      at += step.length
      const opening = answeredIn(calls.open(), calls.options.timeoutMs, () =>
        calls.handle.notInTime('open the store'),
      )
      return then(opening, () => send(step)) as Awaitable<readonly (Reply | Failure)[]>
    }
    const take = (replies: readonly (Reply | Failure)[]): void => {
      for (const reply of replies) {
        if (reply.outcome === 'failed') throw reply.error
        outcomes.push(outcomeOf(reply as Reply, outcomes.length))
      }
      this.#core.wakeSoon()
    }
    const finish = async (answer: Promise<readonly (Reply | Failure)[]>): Promise<Outcome[]> => {
      take(await answer)
      while (at < parts.length) take(await next())
      return outcomes
    }
    // Not recursive: a list that names one key again and again has a step for each time.
    while (at < parts.length) {
      const answer = next()
      if (isPromise(answer)) return finish(answer)
      take(answer)
    }
    return outcomes
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
      `cannot give back key ${JSON.stringify(key)}: it is no longer held under this token; roll ` +
        'the transaction back',
    )
  }

  #finish(helds: readonly Held<T>[], finishes: readonly Finish[]): Awaitable<FinishOutcome[]> {
    const { calls, plans, backend } = this.#core
    const { name, askOptions: options } = calls
    const send = (step: readonly Finish[]) =>
      calls.call('finish', { finishes: step, options }, () =>
        this.#verbs.finish(name, step, options),
      )
    return this.#inSteps(finishes, send, ({ outcome }: FinishReply, index) => {
      const held = helds[index] as HeldKey<unknown>
      const finish = finishes[index] as Finish
      if (outcome === 'lost') throw this.#lostError(held.key)
      if (finish.as === 'done' && finish.forget) plans.forget(held)
      backend.leases?.commitWatch.add(held)
      return outcome
    })
  }
}
