import {
  type Ask,
  type AskOptions,
  type AskReply,
  type Awaitable,
  type BucketRow,
  type CancelOutcome,
  type Capabilities,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Counts,
  checkFunction,
  checkNumber,
  checkObject,
  contractVersion,
  type DirectQueue,
  type Driver,
  type EpochMs,
  type ExpireOptions,
  type ExpireOutcome,
  type FailedRun,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
  type HistoryReply,
  type Lease,
  type ListReply,
  type ListRequest,
  leaseEndsMax,
  never,
  type OpenOptions,
  type Operate,
  type OperateOutcome,
  type RenewReply,
  SluiceTypeError,
  systemClock,
  type TickReply,
  type TickRequest,
  type Transfer,
  type WorkerRow,
} from '@sluice/core'
import { loadTables, tables } from '#tables'
import type { MemoryQueue } from './memory-queue.ts'
import type { ReadyOrder } from './rows/ready-order.ts'
import type { RowState } from './rows/row-states.ts'
import type { MemoryStore } from './rows/row-store.ts'
import { StoreTime } from './store-time.ts'
import { type OnWake, WakeSignal } from './wake-signal.ts'

/** Options of the memory driver. */
export interface MemoryDriverOptions {
  /**
   * An order of your own for keys that are ready. Default: by priority, then by arrival. An order
   * serves one queue; give a function that makes one per queue name if the driver serves several.
   */
  readonly order?: (ReadyOrder | ((queue: string) => ReadyOrder)) | undefined
  /** How many keys a queue will hold at a time: memory for them is allocated at once. Default 0. */
  readonly expectedKeys?: number | undefined
}

/** The most keys for which room can be made in advance. */
const expectedKeysMax = 100_000_000
/** How many names of queues are kept at least. */
const namesMaxMin = 64

/**
 * A store in the memory of this process: the fastest one, and lost with the process.
 *
 * It is shared by every queue that is given this object, and keeps its keys when the last of them
 * is closed. It is synchronous, claims in strict order, and takes leases if asked to. Its time
 * follows the monotonic clock: setting the wall clock moves no delay and ends no lease.
 */
export function memoryDriver(options: MemoryDriverOptions = {}): Driver {
  checkObject('options', options, ['order', 'expectedKeys'])
  const { expectedKeys = 0, order } = options
  checkNumber('expectedKeys', expectedKeys, { min: 0, max: expectedKeysMax, integer: true })
  if (order !== undefined && typeof order !== 'function') checkOrder(order)
  return new MemoryDriver(expectedKeys, order)
}

function checkOrder(order: ReadyOrder): ReadyOrder {
  checkObject('order', order)
  for (const name of ['push', 'touch', 'pop', 'len'] as const) {
    checkFunction(`order.${name}`, order[name])
  }
  return order
}

class MemoryDriver implements Driver {
  readonly name = 'memory'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities
  readonly operate: Operate
  readonly transfer: Transfer
  readonly #time: StoreTime = new StoreTime()
  #made: MemoryStore | undefined
  readonly #wakeSignal: WakeSignal = new WakeSignal()
  readonly #queues: Map<string, WeakRef<MemoryQueue>> = new Map()
  /** At this many names, the names of queues that store nothing are dropped. */
  #namesMax: number = namesMaxMin
  readonly #expectedKeys: number
  readonly #order: MemoryDriverOptions['order']

  constructor(expectedKeys: number, order: MemoryDriverOptions['order']) {
    this.#expectedKeys = expectedKeys
    this.#order = order
    this.capabilities = {
      durable: false,
      shared: false,
      clock: true,
      order: order === undefined ? 'strict' : 'custom',
      time: 'monotonic',
      tokens: 'store',
      sharedBuckets: true,
      watch: true,
      peers: false,
      operate: true,
      queues: true,
      workers: true,
      history: true,
      buckets: true,
      transact: false,
    }
    this.transfer = {
      importRows: (queue, rows) => this.#wakeEach(queue, rows, tables.importTransferRow),
      dropRows: (queue, rows) => this.#each(queue, rows, tables.dropTransferRow),
      importBuckets: (buckets) =>
        buckets.map((bucket) => (this.#store.buckets.put(bucket) ? 'imported' : 'unchanged')),
      lastToken: () => this.#store.lastToken,
      raiseTokens: (floor) => this.#raiseTokens(floor),
    }
    this.operate = {
      pause: (queue) => this.#pause(queue, true),
      resume: (queue) => this.#pause(queue, false),
      park: (queue, keys) => this.#change(queue, keys, tables.park),
      unpark: (queue, keys, { forget }) =>
        this.#change(queue, keys, (state, now, seq) => tables.unpark(state, forget, now, seq)),
      runNow: (queue, keys) => this.#change(queue, keys, tables.runNow),
      remove: (queue, keys) => this.#change(queue, keys, tables.remove),
      purge: (queue) => {
        const keys = this.#queue(queue).table.keys()
        const outcomes = this.#change(queue, keys, tables.remove)
        return outcomes.filter((outcome) => outcome === 'changed').length
      },
    }
  }

  /** Made when a verb needs it, since a browser fetches the tables with the first opening. */
  get #store(): MemoryStore {
    this.#made ??= {
      time: this.#time,
      buckets: new tables.TokenBuckets(),
      inUse: new Set(),
      lastToken: 0,
    }
    return this.#made
  }

  get ahead(): number {
    return this.#time.ahead
  }

  /** Waits only in a browser, and only for the first driver: the tables are fetched then. */
  open(options: OpenOptions): Awaitable<void> {
    const loading = loadTables()
    return loading === undefined ? this.#open(options) : loading.then(() => this.#open(options))
  }

  #open({ clock }: OpenOptions): void {
    this.#time.follow(clock)
    // By the clock of the process, whatever clock was given: the tokens of an earlier process must
    // stay below those of this one.
    this.#raiseTokens(Math.floor(systemClock.now() * 1_000))
  }

  #raiseTokens(floor: number): void {
    const store = this.#store
    store.lastToken = Math.max(store.lastToken, floor)
  }

  close(): void {
    this.#wakeSignal.stop()
  }

  add(queue: string, asks: readonly Ask[], options: AskOptions): AskReply[] {
    return this.#wakeEach(queue, asks, (target, ask) => target.ask(ask, options))
  }

  cancel(queue: string, keys: readonly string[]): CancelOutcome[] {
    return this.#each(queue, keys, (target, key) => target.change(key, 'unchanged', tables.cancel))
  }

  claim(queue: string, request: ClaimRequest): ClaimReply {
    const { holder, leaseMs, limit, dueBy = never } = request
    const target = this.#queue(queue)
    const claims: Claim[] = []
    while (claims.length < limit) {
      const claim = target.take(holder, leaseMs, dueBy, claims.length === 0)
      if (claim === undefined) break
      claims.push(claim)
      if (claim.crashes > 1) break
    }
    const now = this.#time.exact()
    return { claims, leaseEnds: target.leaseEnds(now, leaseEndsMax), now }
  }

  expire(queue: string, leases: readonly Lease[], options: ExpireOptions): ExpireOutcome[] {
    return this.#wakeEach(queue, leases, (target, lease) => target.expire(lease, options))
  }

  renew(queue: string, leases: readonly Lease[], leaseMs: number): RenewReply[] {
    return this.#each(queue, leases, (target, lease) => target.renew(lease, leaseMs))
  }

  finish(queue: string, finishes: readonly Finish[], options: AskOptions): FinishReply[] {
    return this.#wakeEach(queue, finishes, (target, finish) => target.finishByKey(finish, options))
  }

  forget(queue: string, keys: readonly string[]): ForgetOutcome[] {
    return this.#each(queue, keys, (target, key) => target.forget(key))
  }

  tick(queue: string, request: TickRequest): TickReply {
    const { failuresExpireMs, holder, limit, worker, record } = request
    const target = this.#queue(queue)
    // Read before `now`: a key that is ready must not seem to be due later.
    const nextAt = target.nextAt()
    const now = this.#time.exact()
    if (worker !== undefined) target.workers.register({ ...worker, holder }, now)
    target.workers.deleteGone(now)
    if (record !== undefined) {
      target.history.record(record, now, () =>
        tables.depthOf(tables.countKeys(target, tables.historyDepthCap, now), now),
      )
    }
    return {
      now,
      nextAt,
      leaseEnds: target.leaseEnds(now, limit),
      swept: target.sweep(limit, failuresExpireMs, now),
      recorded: record === undefined ? undefined : true,
    }
  }

  counts(queue: string, { cap }: { readonly cap: number }): Counts {
    return tables.countKeys(this.#existing(queue), cap, this.#time.exact())
  }

  list(queue: string, request: ListRequest): ListReply {
    return tables.listKeys(this.#existing(queue), request, this.#time.exact())
  }

  watch(onWake: OnWake): () => void {
    return this.#wakeSignal.watch(onWake)
  }

  queues(): string[] {
    const now = this.#time.exact()
    return [...this.#store.inUse].filter((queue) => queue.isStored(now)).map(({ name }) => name)
  }

  workers(queue: string, withinMs: number): WorkerRow[] {
    return this.#existing(queue).workers.seenSince(this.#time.exact() - withinMs)
  }

  history(queue: string, stepMs: number): HistoryReply {
    const now = this.#time.exact()
    return { now, steps: this.#existing(queue).history.steps(stepMs, now) }
  }

  failedRuns(queue: string): readonly FailedRun[] {
    return this.#existing(queue).history.failedRuns(this.#time.exact())
  }

  buckets(): readonly BucketRow[] {
    return this.#store.buckets.charged()
  }

  direct(queue: string): DirectQueue {
    return this.#queue(queue)
  }

  #queue(name: string): MemoryQueue {
    let queue = this.#queues.get(name)?.deref()
    if (queue === undefined) {
      if (this.#queues.size >= this.#namesMax) this.#dropUnused()
      queue = new tables.MemoryQueue(name, this.#store, this.#expectedKeys, this.#orderFor(name))
      this.#queues.set(name, new WeakRef(queue))
    }
    queue.use()
    return queue
  }

  /** Drops queues that store nothing. A direct queue that is still referenced keeps its name. */
  #dropUnused(): void {
    for (const [name, queue] of this.#queues) {
      queue.deref()?.releaseIfEmpty(this.#time.exact())
      if (queue.deref() === undefined) this.#queues.delete(name)
    }
    this.#namesMax = Math.max(namesMaxMin, 2 * this.#queues.size)
  }

  /** For verbs that only read: they do not create a queue that does not exist. */
  #existing(name: string): MemoryQueue {
    return (
      this.#queues.get(name)?.deref() ?? new tables.MemoryQueue(name, this.#store, 0, undefined)
    )
  }

  #orderFor(name: string): ReadyOrder | undefined {
    const order = this.#order
    if (typeof order === 'function') return checkOrder(order(name))
    if (order !== undefined && this.#queues.size > 0) {
      throw new SluiceTypeError('order', 'must be a function if the driver serves several queues')
    }
    return order
  }

  #pause(queue: string, paused: boolean): OperateOutcome {
    const target = this.#queue(queue)
    if (target.isPaused === paused) return 'unchanged'
    target.isPaused = paused
    this.#wake(queue)
    return 'changed'
  }

  #each<Request, Reply>(
    queue: string,
    requests: readonly Request[],
    verb: (target: MemoryQueue, request: Request) => Reply,
  ): Reply[] {
    const target = this.#queue(queue)
    return requests.map((request) => verb(target, request))
  }

  #wake(queue: string): void {
    if (this.#wakeSignal.isWatched) this.#wakeSignal.announce(queue)
  }

  #change(
    queue: string,
    keys: readonly string[],
    verb: (state: RowState, now: EpochMs, seq: number) => OperateOutcome,
  ): OperateOutcome[] {
    return this.#wakeEach(queue, keys, (target, key) => target.change(key, 'missing', verb))
  }

  /** For verbs that may make keys claimable. */
  #wakeEach<Request, Reply>(
    queue: string,
    requests: readonly Request[],
    verb: (target: MemoryQueue, request: Request) => Reply,
  ): Reply[] {
    this.#wake(queue)
    return this.#each(queue, requests, verb)
  }
}
