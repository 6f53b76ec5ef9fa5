import {
  type Awaitable,
  type Counts,
  checkBoolean,
  checkKey,
  checkNumber,
  checkObject,
  checkOneOf,
  checkString,
  type EpochMs,
  type ForgetOutcome,
  type KeyRow,
  keyStateWords,
  type ListRequest,
  lastSeenDedupe,
  lastSeenPlan,
  never,
  nextTurn,
  noToken,
  type Operate,
  type OperateOutcome,
  type SluiceError,
  SluiceTypeError,
  type WorkerRow,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { whenFree } from '../driver/when-free.ts'
import { explainAbsent, explainKey } from './explain.ts'
import type {
  Explanation,
  FailedRunInfo,
  HistoryRange,
  Inspect,
  KeyInfo,
  KeyPage,
  ListOptions,
  QueueCounts,
  QueueHistory,
} from './inspect.ts'
import { keyInfo, lastErrorOf } from './key-info.ts'
import { type BulkVerb, KeySelection } from './key-selection.ts'
import { PageSize } from './page-size.ts'
import type { KeyFilter, Selection } from './selection.ts'
import {
  shownCounts,
  shownFailedRuns,
  shownHistory,
  shownList,
  shownWorkers,
} from './shown-instants.ts'

/** How many keys of each state are counted unless something else is said. */
const capDefault = 10_000

/** How many keys one page has, and how many it may have. */
const page = { default: 100, max: 1_000 }

/** Asks for the store's time alone: for a page, memory would look at every key. */
export const noPage: ListRequest = { keys: ['-'], limit: 1 }

/** What a move from a store is called in its list of workers. It is none, and is not shown. */
export const moveHolder = 'sluice:move-queues'

/** How long ago a worker may have been seen to count as there. */
const workersWithinMs = 60_000

/** How long the steps of each range are. */
const stepMsOf: Readonly<Record<HistoryRange, number>> = {
  '5m': 10_000,
  '1h': 60_000,
  '24h': 600_000,
}

/** Inspects a queue through its driver. */
export class QueueInspection implements Inspect {
  readonly #coreNow: () => QueueCore

  /** `core` is called for each call: a whole store keeps a limited number of cores. */
  constructor(core: () => QueueCore) {
    this.#coreNow = core
  }

  /** The core, which must not have been closed. */
  get #core(): QueueCore {
    const core = this.#coreNow()
    if (core.phase === 'closed') throw core.calls.closedError()
    return core
  }

  async #counts(cap: number): Promise<Counts> {
    const { calls } = this.#core
    const { driver, name } = calls
    const counts = await calls.inquire(() =>
      calls.call('counts', { cap }, () => driver.counts(name, { cap })),
    )
    return shownCounts(driver, counts)
  }

  async counts(options: { readonly cap?: number | undefined } = {}): Promise<QueueCounts> {
    checkObject('options', options, ['cap'])
    const { cap = capDefault } = options
    checkNumber('cap', cap, { min: 1, integer: true })
    const { oldestReadyAt, heldUntil, ...counts } = await this.#counts(cap)
    return {
      ...counts,
      ...(oldestReadyAt === never ? {} : { oldestReadyAt }),
      ...(heldUntil === never ? {} : { heldUntil }),
    }
  }

  async list(options: ListOptions = {}): Promise<KeyPage> {
    checkObject('options', options, ['state', 'prefix', 'cursor', 'limit'])
    const { state, prefix, cursor, limit = page.default } = options
    if (state !== undefined) checkOneOf('state', state, keyStateWords)
    if (prefix !== undefined) checkString('prefix', prefix)
    if (cursor !== undefined) checkString('cursor', cursor)
    checkNumber('limit', limit, { min: 1, max: page.max, integer: true })
    // Memory and SQLite answer at once: a loop over all pages would keep timers and signals waiting.
    if (cursor !== undefined) await new Promise<void>(nextTurn)
    const reply = await this.#list({ state, prefix, cursor, limit })
    return {
      keys: reply.rows.map((row) => keyInfo(row, reply.now)),
      ...(reply.cursor === undefined ? {} : { cursor: reply.cursor }),
    }
  }

  async #list(request: ListRequest) {
    const { calls } = this.#core
    return shownList(calls.driver, await calls.list(request))
  }

  /** One key as it is stored, and the store's time. */
  async row(key: string): Promise<{ readonly now: EpochMs; readonly row: KeyRow | undefined }> {
    const { now, rows } = await this.#list({ keys: [checkKey('key', key)], limit: 1 })
    return { now, row: rows[0] }
  }

  async get(key: string): Promise<KeyInfo | undefined> {
    const { now, row } = await this.row(key)
    return row === undefined ? undefined : keyInfo(row, now)
  }

  async explain(key: string): Promise<Explanation> {
    const { now, row } = await this.row(key)
    if (row === undefined) return explainAbsent(key, now)
    const { calls, plans } = this.#core
    const [counts, workers] = await Promise.all([
      this.#counts(capDefault),
      calls.driver.capabilities.workers ? this.workers() : undefined,
    ])
    return explainKey(keyInfo(row, now), {
      now,
      isShuttingDown: this.#core.phase !== 'open',
      workers,
      counts,
      plan: plans.own ?? lastSeenPlan(workers ?? []) ?? plans.retry,
      maxCrashes: calls.options.maxCrashes,
    })
  }

  async workers(): Promise<readonly WorkerRow[]> {
    const core = this.#core
    const { driver, name } = core.calls
    const workers = await core.calls.inquire(() => driver.workers?.(name, workersWithinMs) ?? [])
    return shownWorkers(driver, workers)
      .filter(({ holder }) => holder !== moveHolder)
      .sort((a, b) => b.startedAt - a.startedAt)
  }

  async history(
    options: { readonly range?: HistoryRange | undefined } = {},
  ): Promise<QueueHistory> {
    checkObject('options', options, ['range'])
    const { range = '5m' } = options
    checkOneOf('range', range, Object.keys(stepMsOf) as HistoryRange[])
    const stepMs = stepMsOf[range]
    const { calls } = this.#core
    const { driver, name } = calls
    const read = driver.history?.bind(driver)
    if (read === undefined) return { now: (await this.#list(noPage)).now, stepMs, steps: [] }
    return { stepMs, ...shownHistory(driver, await calls.inquire(() => read(name, stepMs))) }
  }

  async failedRuns(): Promise<readonly FailedRunInfo[]> {
    const { calls } = this.#core
    const { driver, name } = calls
    const runs = await calls.inquire(() => driver.failedRuns?.(name) ?? [])
    return shownFailedRuns(driver, runs).map(({ lastError, ...run }) => ({
      ...run,
      error: lastErrorOf(lastError),
    }))
  }

  async oldest(): Promise<{ readyAt: EpochMs; ageMs: number } | undefined> {
    const [{ oldestReadyAt: readyAt }, { now }] = await Promise.all([
      this.#counts(1),
      this.#list(noPage),
    ])
    return readyAt === never ? undefined : { readyAt, ageMs: Math.max(0, now - readyAt) }
  }

  async #operate<R>(
    verb: keyof Operate,
    request: object,
    send: (operate: Operate) => Awaitable<R>,
  ): Promise<R> {
    const core = this.#core
    const { calls } = core
    const { driver, name, handle } = calls
    const { timeoutMs } = calls.options
    const { operate } = driver
    if (operate === undefined) {
      throw new SluiceTypeError(
        'queue',
        `cannot be operated on: the driver ${driver.name} has no verbs for that`,
      )
    }
    const sent = { verb, ...request }
    const operated = async (): Promise<R> => {
      // A purge waits in the driver, which counts what it has removed until then.
      const result = await (verb === 'purge'
        ? send(operate)
        : whenFree(timeoutMs, () => send(operate)))
      // Also if that comes after timeoutMs. What this process has claimed ahead would otherwise be started, by
      // other queue objects too.
      handle.wake(name, undefined, verb === 'pause' || verb === 'park')
      return result
    }
    const call = (): Awaitable<R> => calls.call('operate', sent, operated)
    if (verb !== 'purge') return await calls.change(call)
    // A purge takes as long as the queue has keys, and makes progress meanwhile.
    try {
      return await call()
    } catch (error) {
      // Its next step finds the driver closed if the queue was closed meanwhile.
      throw core.phase === 'closed' ? calls.closedError() : error
    }
  }

  async #one(verb: 'park' | 'runNow' | 'remove', key: string): Promise<OperateOutcome> {
    const keys = [checkKey('key', key)]
    const { name } = this.#core.calls
    const outcomes = await this.#operate(verb, { keys }, (operate) => operate[verb](name, keys))
    return outcomes[0] as OperateOutcome
  }

  pause(): Promise<OperateOutcome> {
    return this.#operate('pause', {}, (operate) => operate.pause(this.#core.calls.name))
  }

  resume(): Promise<OperateOutcome> {
    return this.#operate('resume', {}, (operate) => operate.resume(this.#core.calls.name))
  }

  park(key: string): Promise<OperateOutcome> {
    return this.#one('park', key)
  }

  async unpark(
    key: string,
    options: { readonly forget?: boolean | undefined } = {},
  ): Promise<OperateOutcome> {
    const keys = [checkKey('key', key)]
    checkObject('options', options, ['forget'])
    const { forget = false } = options
    checkBoolean('forget', forget)
    const outcomes = await this.#operate('unpark', { keys, forget }, (operate) =>
      operate.unpark(this.#core.calls.name, keys, { forget }),
    )
    return outcomes[0] as OperateOutcome
  }

  runNow(key: string): Promise<OperateOutcome> {
    return this.#one('runNow', key)
  }

  remove(key: string): Promise<OperateOutcome> {
    return this.#one('remove', key)
  }

  async release(
    key: string,
    options: { readonly token?: number | undefined } = {},
  ): Promise<OperateOutcome> {
    checkObject('options', options, ['token'])
    const { token } = options
    if (token !== undefined) checkNumber('token', token, { min: 1, integer: true })
    const { row } = await this.row(key)
    if (row === undefined) return 'missing'
    if (row.token === noToken || (token !== undefined && row.token !== token)) return 'unchanged'
    const { calls } = this.#core
    const { driver, name, askOptions } = calls
    const dedupe = lastSeenDedupe(await this.workers()) ?? askOptions.dedupe
    const lease = { key, token: row.token }
    const released = () =>
      whenFree(calls.options.timeoutMs, async () => {
        const finish = { as: 'release', ...lease } as const
        const replies = await driver.finish(name, [finish], { ...askOptions, dedupe })
        for (const reply of replies) if (reply.outcome === 'failed') throw reply.error
        return replies
      })
    const [reply] = await calls.change(() =>
      calls.call('operate', { verb: 'release', ...lease }, released),
    )
    calls.handle.wake(name)
    return reply?.outcome === 'lost' ? 'unchanged' : 'changed'
  }

  async forget(key: string): Promise<ForgetOutcome> {
    const outcomes = await this.#forget([checkKey('key', key)])
    return outcomes[0] as ForgetOutcome
  }

  async #forget(keys: readonly string[]): Promise<readonly ForgetOutcome[]> {
    const { calls } = this.#core
    const { driver, name } = calls
    const done = new Map<string, ForgetOutcome>()
    const forgotten = () =>
      whenFree(calls.options.timeoutMs, async () => {
        const left = keys.filter((key) => !done.has(key))
        const outcomes = await driver.forget(name, left)
        let error: SluiceError | undefined
        left.forEach((key, index) => {
          const outcome = outcomes[index] as (typeof outcomes)[number]
          if (typeof outcome === 'object') error = outcome.error
          else done.set(key, outcome)
        })
        // Those of the other keys have taken effect; the call may be repeated.
        if (error !== undefined) throw error
        return keys.map((key) => done.get(key) as ForgetOutcome)
      })
    return await calls.change(() => calls.call('forget', { keys }, forgotten))
  }

  select(filter: KeyFilter): Selection {
    const size = new PageSize(this.#core.calls.driver)
    return new KeySelection(
      {
        list: async (request) => {
          const reply = await this.#list({ ...request, limit: size.keys })
          size.fit(reply.rows)
          return reply
        },
        operate: (verb, keys, options) => this.#many(verb, keys, options),
      },
      filter,
    )
  }

  #many(
    verb: BulkVerb,
    keys: readonly string[],
    options: { readonly forget: boolean },
  ): Promise<readonly (OperateOutcome | ForgetOutcome)[]> {
    if (verb === 'forget') return this.#forget(keys)
    const { name } = this.#core.calls
    return this.#operate(verb, { keys, ...options }, (operate) =>
      verb === 'unpark' ? operate.unpark(name, keys, options) : operate[verb](name, keys),
    )
  }

  purge(): Promise<number> {
    return this.#operate('purge', {}, (operate) => operate.purge(this.#core.calls.name))
  }
}
