import {
  type Ask,
  type AskOptions,
  type AskReply,
  type BucketRow,
  type CancelOutcome,
  type Capabilities,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Counts,
  contractVersion,
  type Driver,
  type DriverTransaction,
  type ExpireOptions,
  type ExpireOutcome,
  type FailedRun,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type ForgetOutcome,
  type HistoryReply,
  type Lease,
  type ListReply,
  type ListRequest,
  leaseEndsMax,
  never,
  noToken,
  type OpenOptions,
  type Operate,
  type RenewReply,
  SluiceError,
  systemClock,
  type TickReply,
  type TickRequest,
  type Transfer,
  type WorkerRow,
  type WorkRecord,
} from '@sluice/core'
import { depthOf, historyDepthCap } from '@sluice/core/driver'
import { countKeys, listKeys } from './list-keys.ts'
import { modelHistory } from './model-history.ts'
import { modelOperate } from './model-operate.ts'
import { type ModelKey, type ModelQueue, ModelStore } from './model-store.ts'
import { modelTransfer } from './model-transfer.ts'
import { modelRules, type Rules } from './rules.ts'
import type { StoreTime } from './store-time.ts'

/** Options of a model driver. */
export interface ModelOptions {
  /** The store; by default, the driver has its own. */
  readonly store?: ModelStore | undefined
  /** Rules that replace those of the contract. */
  readonly rules?: Partial<Rules> | undefined
  /** The effect of a step of the clock; `wall` by default. */
  readonly time?: Capabilities['time'] | undefined
}

/**
 * The contract, written as plainly as possible: a `Map` of keys, the transitions of core, and
 * sorting on every claim.
 *
 * Other drivers are compared with it, and mutants are made of it. Do not use it in programs: it is
 * slow, keeps everything in memory, and declares itself durable because a second driver on the same
 * {@link ModelStore} finds the keys of the first.
 */
export class ModelDriver implements Driver {
  readonly name = 'model'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities
  readonly operate: Operate
  readonly transfer: Transfer
  readonly #store: ModelStore
  readonly #rules: Rules
  readonly #stops = new Set<() => void>()
  #time: StoreTime

  constructor(options: ModelOptions = {}) {
    this.#store = options.store ?? new ModelStore()
    this.#rules = { ...modelRules, ...options.rules }
    this.capabilities = {
      durable: true,
      shared: true,
      clock: true,
      order: 'strict',
      time: options.time ?? 'wall',
      tokens: 'store',
      sharedBuckets: true,
      watch: true,
      peers: true,
      operate: true,
      queues: true,
      workers: true,
      history: true,
      buckets: true,
      transact: 'sync',
    }
    this.#time = this.#rules.storeTime(systemClock, this.capabilities.time)
    this.operate = modelOperate(this.#store, this.#rules, () => this.#time.now())
    this.transfer = modelTransfer(this.#store, this.#rules, () => this.#time.now())
  }

  get ahead(): number {
    return this.#time.ahead
  }

  open({ clock = systemClock }: OpenOptions): void {
    const { time } = this.capabilities
    this.#time = this.#store.time(clock, (each) => this.#rules.storeTime(each, time))
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#stops.clear()
  }

  add(queue: string, asks: readonly Ask[], options: AskOptions): AskReply[] {
    const now = this.#now()
    const { maxPending = Infinity } = options
    let pending = 0
    for (const { state } of this.#keys(queue)) if (state.dueAt !== never) pending += 1
    const replies = readFirst(asks).map((ask): AskReply => {
      const entry = this.#store.key(queue, ask.key)
      const { state } = entry
      const before = this.#rules.countedFailures(state, now, options.failuresExpireMs)
      const isNew = state.dueAt === never
      if (isNew && pending >= maxPending) return { outcome: 'full', dueAt: never, failures: before }
      if (isNew) pending += 1
      const plan = this.#rules.planned(this.#store, ask.plan, before, ask.jitter, now)
      const delayMs = plan?.delayMs ?? ask.delayMs
      const outcome = this.#rules.ask(state, ask, delayMs, options, now, this.#store.nextSeq())
      entry.item = ask.item
      if (outcome !== 'unchanged') plan?.charge()
      const { dueAt, failures } = state
      return { outcome, dueAt, failures, ...(plan !== undefined && { plannedMs: plan.delayMs }) }
    })
    this.#written(queue)
    return replies
  }

  cancel(queue: string, keys: readonly string[]): CancelOutcome[] {
    this.#now()
    const outcomes = keys.map((key) => this.#rules.cancel(this.#store.key(queue, key).state))
    this.#written(queue)
    return outcomes
  }

  claim(queue: string, request: ClaimRequest): ClaimReply {
    const now = this.#now()
    const { limit, dueBy = Infinity } = request
    const claims: Claim[] = []
    for (const entry of this.#store.queue(queue).paused ? [] : this.#claimable(queue, now)) {
      if (claims.length === limit) break
      if (entry.state.dueAt > dueBy) continue
      const isAlone = this.#rules.isAlone(entry.state)
      if (isAlone && claims.length > 0) break
      claims.push(this.#take(entry, request, now))
      if (isAlone) break
    }
    return { claims, leaseEnds: this.#leaseEnds(queue, now, leaseEndsMax), now }
  }

  adopt(queue: string, claimId: string): Claim[] {
    return this.#keys(queue)
      .filter(({ state, claimId: id }) => state.token !== noToken && id === claimId)
      .sort((a, b) => a.state.token - b.state.token)
      .map(claimOf)
  }

  expire(queue: string, leases: readonly Lease[], options: ExpireOptions): ExpireOutcome[] {
    const now = this.#now()
    const outcomes = readFirst(leases).map(({ key, token }) => {
      const entry = this.#store.key(queue, key)
      const delayMs = this.#rules.perKeyPart(options.plan, entry.state.failures, options.jitter)
      const { dedupe, maxCrashes } = options
      const seq = this.#store.nextSeq()
      const { state } = entry
      const outcome = this.#rules.expire(state, token, delayMs, maxCrashes, dedupe, now, seq)
      if (outcome !== 'lost') entry.lastError = options.error ?? entry.lastError
      return outcome
    })
    this.#written(queue)
    return outcomes
  }

  renew(queue: string, leases: readonly Lease[], leaseMs: number): RenewReply[] {
    const leaseUntil = this.#now() + leaseMs
    const replies = readFirst(leases).map(({ key, token }): RenewReply => {
      const { state } = this.#store.key(queue, key)
      return { outcome: this.#rules.renew(state, token, leaseUntil), leaseUntil: state.leaseUntil }
    })
    this.#written(queue)
    return replies
  }

  finish(queue: string, finishes: readonly Finish[], options: AskOptions): FinishReply[] {
    const now = this.#now()
    const replies = readFirst(finishes).map((finish): FinishReply => {
      const entry = this.#store.key(queue, finish.key)
      const outcome = this.#finishOne(entry, finish, options, now)
      if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
      return { outcome, dueAt: entry.state.dueAt, failures: entry.state.failures }
    })
    this.#written(queue)
    return replies
  }

  #finishOne(entry: ModelKey, finish: Finish, options: AskOptions, now: number): FinishOutcome {
    const rules = this.#rules
    const { state } = entry
    const { token } = finish
    const { dedupe } = options
    const seq = this.#store.nextSeq()
    if (finish.as === 'done') {
      const { forget, again } = finish
      return again === undefined
        ? rules.done(state, token, forget, now, seq)
        : rules.doneAgain(state, token, forget, again, dedupe, now, seq)
    }
    if (finish.as === 'release') return rules.release(state, token, dedupe, now, seq)
    if (finish.as === 'park') {
      const outcome = rules.parkHeld(state, token, finish.error !== undefined, dedupe, now, seq)
      if (outcome !== 'lost') entry.lastError = finish.error ?? entry.lastError
      return outcome
    }
    const plan = this.#rules.planned(this.#store, finish.plan, state.failures, finish.jitter, now)
    const delayMs = plan?.delayMs ?? finish.delayMs
    const outcome = rules.retry(state, token, delayMs, dedupe, now, seq, finish.priority)
    if (outcome !== 'lost') {
      plan?.charge()
      entry.lastError = finish.error ?? entry.lastError
    }
    return outcome
  }

  forget(queue: string, keys: readonly string[]): ForgetOutcome[] {
    this.#now()
    const outcomes = keys.map((key) => this.#rules.forget(this.#store.key(queue, key).state))
    this.#written(queue)
    return outcomes
  }

  tick(queue: string, request: TickRequest): TickReply {
    const now = this.#now()
    const { paused, keys } = this.#store.queue(queue)
    const workers = this.#store.workers(queue, now)
    if (request.worker !== undefined) {
      const startedAt = workers.get(request.holder)?.startedAt ?? now
      workers.set(request.holder, { ...request.worker, startedAt, seenAt: now })
    }
    if (request.record !== undefined) this.#addRecord(queue, request.record, now)
    let nextAt = never
    for (const { state } of keys.values()) {
      if (state.token !== noToken) nextAt = Math.min(nextAt, state.leaseUntil)
      else if (!paused && !state.parked) nextAt = Math.min(nextAt, state.dueAt)
    }
    let swept = 0
    for (const [key, { state }] of keys) {
      if (swept === request.limit) break
      if (!this.#rules.hasStaleFailures(state, now, request.failuresExpireMs)) continue
      keys.delete(key)
      swept += 1
    }
    const leaseEnds = this.#leaseEnds(queue, now, request.limit)
    return { now, nextAt, leaseEnds, swept, ...(request.record && { recorded: true }) }
  }

  #addRecord(queue: string, record: WorkRecord, now: number): void {
    const { records, failedRuns } = this.#store.queue(queue)
    const depth = depthOf(this.counts(queue, { cap: historyDepthCap }), now)
    records.push({ at: now, record: structuredClone(record), depth })
    failedRuns.push(...structuredClone(record.failedRuns))
  }

  history(queue: string, stepMs: number): HistoryReply {
    const now = this.#time.now()
    return { now, steps: modelHistory.steps(this.#store.queue(queue), stepMs, now) }
  }

  failedRuns(queue: string): FailedRun[] {
    return modelHistory.failedRuns(this.#store.queue(queue), this.#time.now())
  }

  counts(queue: string, options: { readonly cap: number }): Counts {
    const { paused } = this.#store.queue(queue)
    return countKeys(this.#keys(queue), this.#rules, paused, options.cap, this.#time.now())
  }

  list(queue: string, request: ListRequest): ListReply {
    return listKeys(this.#keys(queue), this.#rules, request, this.#time.now())
  }

  watch(onWake: (queue: string | undefined) => void): () => void {
    const watcher = (queue: string | undefined): void => onWake(queue)
    const { watchers } = this.#store
    watchers.add(watcher)
    const stop = (): void => {
      watchers.delete(watcher)
      this.#stops.delete(stop)
    }
    this.#stops.add(stop)
    return stop
  }

  queues(): string[] {
    const named = [...this.#store.queues]
    const now = this.#time.now()
    const isInUse = (name: string, { keys, paused }: ModelQueue): boolean =>
      keys.size > 0 || paused || this.#store.workers(name, now).size > 0
    return named.filter(([name, queue]) => isInUse(name, queue)).map(([name]) => name)
  }

  workers(queue: string, withinMs: number): WorkerRow[] {
    const now = this.#time.now()
    const known = [...this.#store.workers(queue, now).values()]
    return known.filter(({ seenAt }) => seenAt >= now - withinMs)
  }

  buckets(): BucketRow[] {
    return [...this.#store.buckets.values()]
  }

  transact(transaction: unknown): DriverTransaction {
    // The subject that began the transaction has the copy for a rollback; see `modelSubject`.
    if (transaction !== this.#store) throw new SluiceError('ERR_STORE', 'not a transaction of ours')
    return {
      add: (queue, asks, options) => this.#store.inside(() => this.add(queue, asks, options)),
      finish: (queue, finishes, options) => {
        const replies = this.#store.inside(() => this.finish(queue, finishes, options))
        if (replies.some(({ outcome }) => outcome === 'lost')) {
          throw new SluiceError('ERR_LEASE_LOST', 'the lease of a key to finish is lost')
        }
        return replies
      },
    }
  }

  /** The time, for a verb that writes: throws while another transaction is open. */
  #now(): number {
    if (this.#store.isInTransaction) {
      throw new SluiceError('ERR_STORE_BUSY', 'a transaction is open', { retryable: true })
    }
    return this.#time.now()
  }

  #keys(queue: string): ModelKey[] {
    return [...this.#store.queue(queue).keys.values()]
  }

  #claimable(queue: string, now: number): ModelKey[] {
    return this.#keys(queue)
      .filter(({ state }) => this.#rules.isClaimable(state, now))
      .sort((a, b) => this.#rules.comesBefore(a.state, b.state))
  }

  #take(entry: ModelKey, request: ClaimRequest, now: number): Claim {
    const { leaseMs, holder, claimId } = request
    const token = this.#store.nextToken()
    this.#rules.claim(entry.state, token, now + leaseMs, now, this.#store.nextSeq())
    entry.holder = holder
    entry.claimId = claimId
    return claimOf(entry)
  }

  #leaseEnds(queue: string, now: number, limit: number): Lease[] {
    return this.#keys(queue)
      .filter(({ state }) => this.#rules.isOver(state, now))
      .map(({ key, state }) => ({ key, token: state.token }))
      .slice(0, limit)
  }

  /** After every write: deletes keys without a state, and calls the watchers. */
  #written(queue: string): void {
    this.#store.sweep(queue, (state) => this.#rules.isGone(state))
    this.#store.wake(queue)
  }
}

/** A copy, so that a verb with an unreadable argument fails before it has changed anything. */
function readFirst<T>(list: readonly T[]): readonly T[] {
  return structuredClone(list)
}

function claimOf({ key, item, state }: ModelKey): Claim {
  return {
    key,
    item,
    token: state.token,
    failures: state.failures,
    crashes: state.crashes,
    priority: state.claimedPriority,
    askedAt: state.claimedAskedAt,
    readyAt: state.claimedReadyAt,
    leaseUntil: state.leaseUntil,
    trace: state.claimedTrace,
  }
}
