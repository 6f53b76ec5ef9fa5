import { safeListener } from '@sluice/core'
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
  type OpenOptions,
  type Operate,
  type RenewReply,
  SluiceError,
  type TickReply,
  type TickRequest,
  type Transfer,
  type WorkerRow,
} from '@sluice/core/driver'
import { checkServer, checkSlots } from './connection/check-server.ts'
import { storeError } from './connection/errors.ts'
import { openConnections } from './connection/open-connections.ts'
import { checkDisk, checkReplicas } from './durability.ts'
import { JournalKeeper } from './journal-keeper.ts'
import { checkOptions, type RedisOptions, type Settings } from './redis-options.ts'
import { Layout } from './rows/layout.ts'
import { StoreTime } from './rows/store-time.ts'
import { Store } from './store.ts'
import { add } from './verbs/add.ts'
import { cancel, type Discard, forget, operate } from './verbs/change.ts'
import { adopt, claim } from './verbs/claim.ts'
import { counts } from './verbs/counts.ts'
import { expire } from './verbs/expire.ts'
import { finish } from './verbs/finish.ts'
import { failedRuns, history } from './verbs/history.ts'
import { list } from './verbs/list.ts'
import { buckets, queues, workers } from './verbs/queues.ts'
import { renew } from './verbs/renew.ts'
import { tick } from './verbs/tick.ts'
import { transfer } from './verbs/transfer.ts'
import { Watch } from './watch.ts'

/**
 * How long `close` waits until replicas have what was acknowledged, in milliseconds. A queue gives its store half a
 * second to close; one that is late counts as a store that does not answer.
 */
const journalCloseMs = 300

interface Opened {
  readonly store: Store
  readonly watch: Watch
  readonly journal: JournalKeeper
}

/**
 * A driver on Redis or Valkey: many processes, on many machines, share its queues. One server, a server
 * with Sentinels, or a cluster, over which queues spread.
 */
export function redisDriver(options: RedisOptions): Driver {
  return new RedisDriver(checkOptions(options))
}

class RedisDriver implements Driver {
  readonly name = 'redis'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities
  readonly operate: Operate
  readonly transfer: Transfer
  readonly #settings: Settings
  readonly batchKeys = 500
  readonly batchBytes = 262_144
  #opened: Opened | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    const wake = (queue: string) => this.#wake(queue)
    this.operate = operate(() => this.#store, wake, this.#discard)
    this.transfer = transfer(() => this.#store, wake, this.#discard)
    const isShared = settings.oneSlot || !settings.isCluster
    this.capabilities = {
      durable: true,
      shared: true,
      clock: true,
      order: 'strict',
      time: 'wall',
      // In a cluster, queues are on several servers, unless all of them are in one slot.
      tokens: isShared ? 'store' : 'queue',
      sharedBuckets: isShared,
      watch: true,
      peers: true,
      operate: true,
      queues: true,
      workers: true,
      history: true,
      buckets: true,
      transact: false,
    }
  }

  /** By how much the store's time is ahead of the server's clock, or of the clock that was given. */
  get ahead(): number {
    return this.#opened?.store.time.ahead ?? 0
  }

  async open({ clock }: OpenOptions): Promise<void> {
    if (this.#opened !== undefined) return
    const { connection, timeoutMs, environment, prefix, oneSlot, isCluster } = this.#settings
    const { acceptsEviction, replicas, disk, diskChecked, onReplay } = this.#settings
    const layout = new Layout({ prefix, oneSlot, isCluster })
    const connections = await openConnections({ ...connection, timeoutMs, environment })
    try {
      await checkServer(connections, { prefix, acceptsEviction })
      await checkSlots(connections, layout)
      if (disk && diskChecked !== 'by-me') await checkDisk(connections)
      await checkReplicas(connections, replicas)
    } catch (error) {
      await connections.close()
      throw storeError(error)
    }
    const time = new StoreTime(clock, () => environment.clock.monotonicMs())
    const use = { connections, layout, time, environment, replicas, confirmMs: timeoutMs }
    const store = new Store(use)
    const watch = new Watch(store)
    const journal = new JournalKeeper(store, environment, (replayed) => {
      // The scripts have woken other processes only.
      watch.wake(replayed.queue)
      safeListener('onReplay', onReplay)(replayed)
    })
    this.#opened = { store, watch, journal }
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    if (opened === undefined) return
    await opened.journal.close(journalCloseMs)
    opened.watch.stop()
    await opened.store.connections.close()
  }

  async add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Promise<readonly AskReply[]> {
    const { store, journal } = this.#open
    await journal.makeRoom(queue)
    const added = await this.#waking(queue, add(store, queue, asks, options))
    journal.noteAdds(queue, asks, added, options.dedupe)
    const { replies } = added
    const wakes = replies.some(({ outcome }) => outcome === 'added' || outcome === 'moved')
    if (wakes) this.#wake(queue)
    return replies
  }

  async cancel(queue: string, keys: readonly string[]): Promise<readonly CancelOutcome[]> {
    return await cancel(this.#store, queue, keys, this.#discard)
  }

  async claim(queue: string, request: ClaimRequest): Promise<ClaimReply> {
    const { store, watch, journal } = this.#open
    await watch.use(queue)
    return await claim(store, queue, request, this.batchBytes, journal.releasesOf(queue))
  }

  async adopt(queue: string, claimId: string): Promise<readonly Claim[]> {
    const { store, journal } = this.#open
    return await adopt(store, queue, claimId, journal.releasesOf(queue))
  }

  async expire(
    queue: string,
    leases: readonly Lease[],
    options: ExpireOptions,
  ): Promise<readonly ExpireOutcome[]> {
    const outcomes = await this.#waking(queue, expire(this.#store, queue, leases, options))
    if (outcomes.includes('expired')) this.#wake(queue)
    return outcomes
  }

  async renew(
    queue: string,
    leases: readonly Lease[],
    leaseMs: number,
  ): Promise<readonly RenewReply[]> {
    return await renew(this.#store, queue, leases, leaseMs)
  }

  async finish(
    queue: string,
    finishes: readonly Finish[],
    options: AskOptions,
  ): Promise<readonly FinishReply[]> {
    const { store, journal } = this.#open
    const finishing = finish(store, queue, finishes, options).catch((error: unknown) => {
      // The queue may give up before another primary is there; the key would count as crashed.
      const isUnknown = SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')
      if (isUnknown) journal.noteReleases(queue, finishes, undefined)
      throw error
    })
    const finished = await this.#waking(queue, finishing)
    journal.noteFinishes(queue, finishes, finished)
    const { replies } = finished
    const wakes = replies.some(({ outcome }) => outcome === 'ready' || outcome === 'delayed')
    if (wakes) this.#wake(queue)
    return replies
  }

  async forget(queue: string, keys: readonly string[]): Promise<readonly ForgetOutcome[]> {
    return await forget(this.#store, queue, keys)
  }

  async tick(queue: string, request: TickRequest): Promise<TickReply> {
    await this.#open.watch.use(queue)
    return await tick(this.#store, queue, request)
  }

  async counts(queue: string, { cap }: { readonly cap: number }): Promise<Counts> {
    return await counts(this.#store, queue, cap)
  }

  async list(queue: string, request: ListRequest): Promise<ListReply> {
    return await list(this.#store, queue, request, this.batchBytes)
  }

  async watch(onWake: (queue: string | undefined) => void): Promise<() => Promise<void>> {
    return await this.#open.watch.watch(onWake)
  }

  async queues(): Promise<readonly string[]> {
    return await queues(this.#store)
  }

  async workers(queue: string, withinMs: number): Promise<readonly WorkerRow[]> {
    return await workers(this.#store, queue, withinMs)
  }

  async history(queue: string, stepMs: number): Promise<HistoryReply> {
    return await history(this.#store, queue, stepMs)
  }

  async failedRuns(queue: string): Promise<readonly FailedRun[]> {
    return await failedRuns(this.#store, queue)
  }

  async buckets(): Promise<readonly BucketRow[]> {
    return await buckets(this.#store)
  }

  readonly #discard: Discard = (queue, keys, when) =>
    this.#opened?.journal.discard(queue, keys, when)

  #wake(queue: string): void {
    this.#opened?.watch.wake(queue)
  }

  /** A change whose outcome is unknown may have made a key due. */
  async #waking<T>(queue: string, change: Promise<T>): Promise<T> {
    try {
      return await change
    } catch (error) {
      if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) this.#wake(queue)
      throw error
    }
  }

  get #open(): Opened {
    if (this.#opened === undefined)
      throw new SluiceError('ERR_STORE', 'the driver is not open; queues open it')
    return this.#opened
  }

  get #store(): Store {
    return this.#open.store
  }
}
