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
  type Failure,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
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
import { type Statements, statementsFor } from './connection/statements.ts'
import { Store } from './connection/store.ts'
import { type Connected, connect } from './connection/target.ts'
import { WakeBell } from './connection/wake-signal.ts'
import { Warnings } from './connection/warnings.ts'
import { Watching } from './connection/watch.ts'
import { checkOptions, type PostgresOptions, type Settings } from './postgres-options.ts'
import { StoreTime } from './rows/store-time.ts'
import { survey } from './schema/check-server.ts'
import { migrate } from './schema/migrate.ts'
import { channelOf } from './schema/schema-name.ts'
import { add } from './verbs/add.ts'
import { adopt, claim, expire, type LeaseCursors, renew } from './verbs/claim.ts'
import { finish } from './verbs/finish.ts'
import { buckets, counts, list, queues, tick, workers } from './verbs/list.ts'
import { cancel, forget, operateOn } from './verbs/operate.ts'
import { transactionOn } from './verbs/transact.ts'
import { transferOn } from './verbs/transfer.ts'

/** What there is while the driver is open. */
interface Opened {
  readonly connected: Connected
  readonly store: Store
  readonly bell: WakeBell
  readonly watching: Watching
  readonly unlisten: (() => Promise<void>) | undefined
}

/**
 * A driver on Postgres: many processes, on many machines, share its queues. Server 14 or newer, or
 * PGlite in this process.
 */
export function postgresDriver(options: PostgresOptions): Driver {
  return new PostgresDriver(checkOptions(options))
}

async function closeAll({ sessions, buckets }: Connected): Promise<void> {
  if (buckets !== sessions) await buckets.close()
  await sessions.close()
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
  readonly #cursors: LeaseCursors = new Map()
  #opened: Opened | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    this.#channel = channelOf(settings.schema)
    this.#statements = statementsFor(settings.schema, this.#channel)
    this.#warnings = new Warnings(settings.machine, settings.onWarning)
    this.operate = operateOn(
      () => this.#store,
      (queue) => this.#ring(queue),
    )
    this.transfer = transferOn(
      () => this.#store,
      (queue) => this.#ring(queue),
    )
    const { client } = settings
    const dataDir = client?.dataDir ?? 'memory://'
    this.capabilities = {
      durable: client === undefined || !dataDir.startsWith('memory://'),
      // One connection in one process is all that PGlite has.
      shared: client === undefined,
      clock: true,
      order: 'per-producer',
      time: 'wall',
      watch: true,
      peers: true,
      operate: true,
      queues: true,
      workers: true,
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
    const { machine, schema, migrate: mode, pollMs, notify } = this.#settings
    const connected = await connect(this.#settings)
    try {
      await survey(connected.sessions, connected.use.probe)
      await migrate(connected.sessions, schema, mode)
      const send = async (payload: string): Promise<void> => {
        await connected.sessions.run(this.#statements.notify, [this.#channel, payload])
      }
      const bell = new WakeBell({ machine, channel: this.#channel, send, isHeard: notify })
      const { makeListener } = connected
      const listener = notify &&
        makeListener !== undefined && {
          machine,
          channel: this.#channel,
          make: makeListener,
          probe: connected.use.probe,
          send,
          onHint: (queue: string | undefined) => bell.hear(queue),
          onWarning: (kind: string, message: string, cause: unknown) => {
            if (kind === 'unproven') this.#warnings.once(kind, message, cause)
            else this.#warnings.warn(kind, message, cause)
          },
        }
      const watching = new Watching({ machine, bell, pollMs, listener: listener || undefined })
      const time = new StoreTime(
        clock,
        () => machine.clock.monotonicMs(),
        () => void store.rise(),
      )
      const store = new Store(
        connected.sessions,
        this.#statements,
        machine,
        time,
        async (statement, values) => await watching.overListener(statement, values),
      )
      await store.start()
      const unlisten = await this.#listenInside(bell)
      this.#opened = { connected, store, bell, watching, unlisten }
    } catch (error) {
      await closeAll(connected)
      // Looking and migrating may be repeated: there is nothing that is in doubt.
      if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) throw error
      const message = `the store was not opened: ${error.message}`
      throw new SluiceError('ERR_STORE', message, { cause: error, retryable: true })
    }
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    if (opened === undefined) return
    await opened.watching.stop()
    await opened.unlisten?.()
    await opened.bell.tellAll()
    await closeAll(opened.connected)
  }

  async add(
    queue: string,
    asks: readonly Ask[],
    options: AskOptions,
  ): Promise<readonly (AskReply | Failure)[]> {
    const { store, bell } = this.#open
    return await add(store, bell, queue, asks, options)
  }

  async cancel(queue: string, keys: readonly string[]): Promise<readonly CancelOutcome[]> {
    return await cancel(this.#store, queue, keys)
  }

  async claim(queue: string, request: ClaimRequest): Promise<ClaimReply> {
    return await claim(this.#store, this.#cursors, queue, request)
  }

  async adopt(queue: string, claimId: string): Promise<readonly Claim[]> {
    return await adopt(this.#store, queue, claimId)
  }

  async expire(
    queue: string,
    leases: readonly Lease[],
    options: ExpireOptions,
  ): Promise<readonly (ExpireOutcome | Failure)[]> {
    const { store, bell } = this.#open
    const outcomes = await bell.ringIfUnknown(queue, expire(store, queue, leases, options))
    if (outcomes.includes('expired')) bell.ring(queue)
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
    const { store, bell } = this.#open
    const replies = await bell.ringIfUnknown(queue, finish(store, queue, finishes, options))
    const wakes = replies.some(({ outcome }) => outcome === 'ready' || outcome === 'delayed')
    if (wakes) bell.ring(queue)
    return replies
  }

  async forget(queue: string, keys: readonly string[]): Promise<readonly ForgetOutcome[]> {
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

  async buckets(): Promise<readonly BucketRow[]> {
    return await buckets(this.#store)
  }

  transact(transaction: unknown): DriverTransaction {
    return transactionOn(transaction, {
      store: async () => this.#store,
      poolUse: () => this.#open.connected.use,
      buckets: () => this.#open.connected.buckets,
      channel: this.#channel,
    })
  }

  get #open(): Opened {
    if (this.#opened === undefined) {
      throw new SluiceError('ERR_STORE', 'the driver is not open')
    }
    return this.#opened
  }

  get #store(): Store {
    return this.#open.store
  }

  #ring(queue: string): void {
    this.#opened?.bell.ring(queue)
  }

  /** PGlite tells those in its own process, over the connection that everybody shares. */
  async #listenInside(bell: WakeBell): Promise<(() => Promise<void>) | undefined> {
    const { client, notify } = this.#settings
    if (client?.listen === undefined || !notify) return undefined
    const stop = await client.listen(this.#channel, (payload) => {
      if (payload.startsWith('q')) bell.hear(payload.slice(1))
    })
    return typeof stop === 'function' ? (stop as () => Promise<void>) : undefined
  }
}
