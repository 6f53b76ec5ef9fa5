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
  type Failure,
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
} from '@sluice/core'
import { closeMs, ignore, withDeadline } from './connection/deadline.ts'
import { repeatableError } from './connection/errors.ts'
import { type Statements, statementsFor } from './connection/statements.ts'
import { Store } from './connection/store.ts'
import { type Target, targetOf } from './connection/target.ts'
import { Warnings } from './connection/warnings.ts'
import { proofMark, queueOfNotice } from './notices/listener.ts'
import { WakeSignal } from './notices/wake-signal.ts'
import { Watch } from './notices/watch.ts'
import { checkOptions, type PostgresOptions, type Settings } from './postgres-options.ts'
import { failedRuns, history } from './rows/history.ts'
import { StoreTime } from './rows/store-time.ts'
import { checkServer } from './schema/check-server.ts'
import { bringUpToDate } from './schema/migrate.ts'
import { channelOf } from './schema/schema-name.ts'
import { transact } from './transact/transact.ts'
import { add } from './verbs/add.ts'
import { cancel } from './verbs/cancel.ts'
import { adopt, claim, type LeaseLookByQueue } from './verbs/claim.ts'
import { counts } from './verbs/counts.ts'
import { expire } from './verbs/expire.ts'
import { finish } from './verbs/finish.ts'
import { forget } from './verbs/forget.ts'
import { list } from './verbs/list.ts'
import { operate } from './verbs/operate.ts'
import { buckets, queues } from './verbs/queues.ts'
import { renew } from './verbs/renew.ts'
import { tick } from './verbs/tick.ts'
import { transfer } from './verbs/transfer.ts'
import { workers } from './verbs/workers.ts'

/** The parts of an open driver. */
interface Opened {
  readonly target: Target
  readonly store: Store
  readonly wakeSignal: WakeSignal
  readonly watching: Watch
  readonly unlisten: (() => Promise<void>) | undefined
}

/**
 * A driver on Postgres: many processes, on many machines, share its queues. Server 14 or newer, or
 * PGlite in this process.
 */
export function postgresDriver(options: PostgresOptions): Driver {
  return new PostgresDriver(checkOptions(options))
}

async function closeAll({ connections, buckets }: Target): Promise<void> {
  const closing = [connections.close()]
  if (buckets !== connections) closing.push(buckets.close())
  await Promise.all(closing)
}

class PostgresDriver implements Driver {
  readonly name = 'postgres'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities
  readonly operate: Operate
  readonly transfer: Transfer
  readonly #settings: Settings
  readonly #channel: string
  readonly #statements: Statements
  readonly #warnings: Warnings
  readonly #leaseLookOf: LeaseLookByQueue = new Map()
  #opened: Opened | undefined
  /** Whether a notice has arrived on PGlite. */
  #hearsPglite = false

  constructor(settings: Settings) {
    this.#settings = settings
    this.#channel = channelOf(settings.schema)
    this.#statements = statementsFor(settings.schema, this.#channel)
    this.#warnings = new Warnings(settings.environment, settings.onWarning)
    this.operate = operate(
      () => this.#store,
      (queue) => this.#wake(queue),
    )
    this.transfer = transfer(
      () => this.#store,
      (queue) => this.#wake(queue),
    )
    const { client } = settings
    const dataDir = client?.dataDir ?? 'memory://'
    this.capabilities = {
      durable: client === undefined || !dataDir.startsWith('memory://'),
      // PGlite is one connection in one process.
      shared: client === undefined,
      clock: true,
      order: 'per-producer',
      time: 'wall',
      tokens: 'store',
      sharedBuckets: true,
      watch: true,
      peers: true,
      operate: true,
      queues: true,
      workers: true,
      history: true,
      buckets: true,
      transact: 'async',
    }
  }

  /** By how much the store's time is ahead of the server's clock, or of the clock that was given. */
  get ahead(): number {
    return this.#opened?.store.time.ahead ?? 0
  }

  async open({ clock }: OpenOptions): Promise<void> {
    if (this.#opened !== undefined) return
    const { environment, schema, migrate: mode, pollMs, notify } = this.#settings
    const target = await targetOf(this.#settings)
    try {
      await checkServer(target.connections, target.use.probe)
      await bringUpToDate(target.connections, schema, mode)
      const send = async (payload: string): Promise<void> => {
        await target.connections.run(this.#statements.notify, [this.#channel, payload])
      }
      const wakeSignal = new WakeSignal({
        environment,
        channel: this.#channel,
        send,
        sendsNotices: notify,
      })
      const { makeListener } = target
      const listener = notify &&
        makeListener !== undefined && {
          environment,
          channel: this.#channel,
          make: makeListener,
          probe: target.use.probe,
          send,
          onNotice: (queue: string | undefined) => wakeSignal.wakeWatchers(queue),
          onWarning: (kind: string, message: string, cause: unknown) => {
            if (kind === 'unproven') this.#warnings.once(kind, message, cause)
            else this.#warnings.warn(kind, message, cause)
          },
        }
      const watching = new Watch({
        environment,
        wakeSignal,
        pollMs,
        listener,
        hears: () => this.#hearsPglite,
      })
      const time = new StoreTime(
        clock,
        () => environment.clock.monotonicMs(),
        () => void store.raisePresent(),
      )
      const store = new Store(target.connections, this.#statements, environment, time, watching)
      await store.start()
      const unlisten = await this.#listenOnPglite(wakeSignal, send)
      this.#opened = { target, store, wakeSignal, watching, unlisten }
    } catch (error) {
      await closeAll(target)
      // Reading and migrating may be repeated.
      throw repeatableError(error, 'the store was not opened')
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    this.#hearsPglite = false
    if (opened === undefined) return
    const { target, unlisten, wakeSignal, watching } = opened
    const { environment } = target.use
    const sent = withDeadline(environment, closeMs, 'sending notices', wakeSignal.flush())
    await Promise.all([watching.stop(), sent.catch(ignore)])
    await unlisten?.()
    await closeAll(target)
  }

  async add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Promise<readonly (AskReply | Failure)[]> {
    const { store, wakeSignal } = this.#open
    return await add(store, wakeSignal, queue, asks, options)
  }

  async cancel(
    queue: string,
    keys: readonly string[],
  ): Promise<readonly (CancelOutcome | Failure)[]> {
    return await cancel(this.#store, queue, keys)
  }

  async claim(queue: string, request: ClaimRequest): Promise<ClaimReply> {
    return await claim(this.#store, this.#leaseLookOf, queue, request)
  }

  async adopt(queue: string, claimId: string): Promise<readonly Claim[]> {
    return await adopt(this.#store, queue, claimId)
  }

  async expire(
    queue: string,
    leases: readonly Lease[],
    options: ExpireOptions,
  ): Promise<readonly (ExpireOutcome | Failure)[]> {
    const { store, wakeSignal } = this.#open
    const outcomes = await wakeSignal.wakeIfUnknown(queue, expire(store, queue, leases, options))
    if (outcomes.includes('expired')) wakeSignal.wake(queue)
    return outcomes
  }

  async renew(
    queue: string,
    leases: readonly Lease[],
    leaseMs: number,
  ): Promise<readonly (RenewReply | Failure)[]> {
    return await renew(this.#store, queue, leases, leaseMs)
  }

  async finish(
    queue: string,
    finishes: readonly Finish[],
    options: AskOptions,
  ): Promise<readonly (FinishReply | Failure)[]> {
    const { store, wakeSignal } = this.#open
    const replies = await wakeSignal.wakeIfUnknown(queue, finish(store, queue, finishes, options))
    const wakes = replies.some(({ outcome }) => outcome === 'ready' || outcome === 'delayed')
    if (wakes) wakeSignal.wake(queue)
    return replies
  }

  async forget(
    queue: string,
    keys: readonly string[],
  ): Promise<readonly (ForgetOutcome | Failure)[]> {
    return await forget(this.#store, queue, keys)
  }

  async tick(queue: string, request: TickRequest): Promise<TickReply> {
    return await tick(this.#store, this.#channel, queue, request)
  }

  async counts(queue: string, { cap }: { readonly cap: number }): Promise<Counts> {
    return await counts(this.#store, queue, cap)
  }

  async list(queue: string, request: ListRequest): Promise<ListReply> {
    return await list(this.#store, queue, request)
  }

  async watch(onWake: (queue: string | undefined) => void): Promise<() => Promise<void>> {
    return await this.#open.watching.watch(onWake)
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

  transact(transaction: unknown): DriverTransaction {
    return transact(transaction, {
      store: async () => this.#store,
      poolUse: () => this.#open.target.use,
      buckets: () => this.#open.target.buckets,
      isSingle: this.#settings.client !== undefined,
      channel: this.#settings.notify ? this.#channel : undefined,
    })
  }

  get #open(): Opened {
    if (this.#opened === undefined) {
      throw new SluiceError('ERR_STORE', 'the driver is not open; queues open it')
    }
    return this.#opened
  }

  get #store(): Store {
    return this.#open.store
  }

  #wake(queue: string): void {
    this.#opened?.wakeSignal.wake(queue)
  }

  /** PGlite sends notices within its process, over its only connection. */
  async #listenOnPglite(
    wakeSignal: WakeSignal,
    send: (payload: string) => Promise<void>,
  ): Promise<(() => Promise<void>) | undefined> {
    const { client, notify } = this.#settings
    if (client?.listen === undefined || !notify) return undefined
    const stop = await client.listen(this.#channel, (payload) => {
      this.#hearsPglite = true
      const queue = queueOfNotice(payload)
      if (queue !== undefined) wakeSignal.wakeWatchers(queue)
    })
    if (typeof stop !== 'function') return undefined
    // Watchers are polled until a notice has arrived, and an idle queue sends none.
    await send(proofMark).catch(() => {})
    return async () => {
      try {
        await stop()
      } catch {
        // The client was closed before the driver, and listens no more.
      }
    }
  }
}
