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
  type Clock,
  type Counts,
  contractVersion,
  type Driver,
  type DriverTransaction,
  type ExpireOptions,
  type ExpireOutcome,
  type FailedRun,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
  type HistoryReply,
  isPromise,
  type Lease,
  type ListReply,
  type ListRequest,
  type OpenOptions,
  type Operate,
  type RenewReply,
  SluiceError,
  systemClock,
  type TickReply,
  type TickRequest,
  type Transfer,
  type WorkerRow,
} from '@sluice/core/driver'
import type { Work } from './connection/connection.ts'
import type { ConnectionShare } from './connection/connection-share.ts'
import type { Target } from './connection/target.ts'
import { failedRunsVerb, historyVerb } from './rows/history.ts'
import { listQueues } from './rows/queue-row.ts'
import { listBuckets } from './rows/token-buckets.ts'
import { WriteTransaction } from './rows/write-transaction.ts'
import { addVerb } from './verbs/add.ts'
import { cancelVerb } from './verbs/cancel.ts'
import { adoptVerb, claimNothing, claimVerb } from './verbs/claim.ts'
import { countsVerb } from './verbs/counts.ts'
import { expireVerb } from './verbs/expire.ts'
import { finishVerb } from './verbs/finish.ts'
import { forgetVerb } from './verbs/forget.ts'
import { listVerb } from './verbs/list.ts'
import { type Change, sqliteOperate } from './verbs/operate.ts'
import { renewVerb } from './verbs/renew.ts'
import { tickRead, tickWrite } from './verbs/tick.ts'
import { transact } from './verbs/transact.ts'
import { sqliteTransfer } from './verbs/transfer.ts'
import { workersVerb } from './verbs/workers.ts'

/** The driver on a SQLite file, or on a database that the caller has opened. */
export class SqliteDriver implements Driver {
  readonly name = 'sqlite'
  readonly contractVersion: number = contractVersion
  readonly capabilities: Capabilities
  readonly operate: Operate
  readonly transfer: Transfer
  /** Absent if the file must not have a second connection. */
  readonly transact?: (transaction: unknown) => DriverTransaction
  readonly #target: Target
  #clock: Clock = systemClock
  #share: ConnectionShare | undefined
  readonly #stops = new Set<() => void>()

  constructor(target: Target) {
    this.#target = target
    this.capabilities = {
      durable: !target.isInMemory,
      shared: target.isShared,
      clock: true,
      order: 'strict',
      time: 'wall',
      tokens: 'store',
      sharedBuckets: true,
      watch: true,
      peers: !target.isInMemory,
      operate: true,
      queues: true,
      workers: true,
      history: true,
      buckets: true,
      transact: target.canTransact ? 'sync' : false,
    }
    const change: Change = (queue, work) => this.#change(queue, work)
    this.operate = sqliteOperate(change)
    if (target.canTransact) this.transact = (transaction) => this.#transact(transaction)
    this.transfer = sqliteTransfer(
      change,
      (work) => this.#read(null, work),
      (work) => this.#write(null, work),
    )
  }

  /** See {@link Driver.ahead}. */
  get ahead(): number {
    return this.#share?.connection.time(this.#clock).ahead ?? 0
  }

  open({ clock = systemClock }: OpenOptions): Awaitable<void> {
    if (this.#share !== undefined) return undefined
    this.#clock = clock
    try {
      const share = this.#target.connect(clock)
      if (!isPromise(share)) {
        this.#share = share
        return undefined
      }
      return share.then((each) => {
        this.#share = each
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  close(): void {
    for (const stop of this.#stops) stop()
    this.#stops.clear()
    this.#share?.release()
    this.#share = undefined
  }

  add(queue: string, asks: readonly Ask[], options: AskOptions): Awaitable<AskReply[]> {
    return this.#change(queue, (tx) => addVerb(tx, asks, options))
  }

  cancel(queue: string, keys: readonly string[]): Awaitable<CancelOutcome[]> {
    return this.#change(queue, (tx) => cancelVerb(tx, keys))
  }

  claim(queue: string, request: ClaimRequest): Awaitable<ClaimReply> {
    const found = this.#read(queue, (statements, store) => claimNothing(statements, store, request))
    const take = (): Awaitable<ClaimReply> => this.#writeTo(queue, (tx) => claimVerb(tx, request))
    if (isPromise(found)) return found.then((reply) => reply ?? take())
    return found ?? take()
  }

  adopt(queue: string, claimId: string): Awaitable<Claim[]> {
    return this.#read(queue, (statements, store) => adoptVerb(statements, store.queue, claimId))
  }

  expire(
    queue: string,
    leases: readonly Lease[],
    options: ExpireOptions,
  ): Awaitable<ExpireOutcome[]> {
    return this.#change(queue, (tx) => expireVerb(tx, leases, options))
  }

  renew(queue: string, leases: readonly Lease[], leaseMs: number): Awaitable<RenewReply[]> {
    return this.#write(queue, (statements, store) => renewVerb(statements, store, leases, leaseMs))
  }

  finish(
    queue: string,
    finishes: readonly Finish[],
    options: AskOptions,
  ): Awaitable<FinishReply[]> {
    return this.#change(queue, (tx) => finishVerb(tx, finishes, options))
  }

  forget(queue: string, keys: readonly string[]): Awaitable<ForgetOutcome[]> {
    return this.#change(queue, (tx) => forgetVerb(tx, keys))
  }

  tick(queue: string, request: TickRequest): Awaitable<TickReply> {
    const read = this.#read(queue, (statements, store) => tickRead(statements, store, request))
    const finish = ({ reply, mustWrite }: ReturnType<typeof tickRead>): Awaitable<TickReply> => {
      if (!mustWrite) return reply
      const recorded = request.record === undefined ? undefined : true
      return this.#write(queue, (statements, store) => {
        const swept = tickWrite(new WriteTransaction(statements, queue, store), request)
        return { ...reply, recorded, swept }
      })
    }
    return isPromise(read) ? read.then(finish) : finish(read)
  }

  counts(queue: string, { cap }: { readonly cap: number }): Awaitable<Counts> {
    return this.#read(queue, (statements, store) => countsVerb(statements, store, cap))
  }

  list(queue: string, request: ListRequest): Awaitable<ListReply> {
    return this.#read(queue, (statements, store) => listVerb(statements, store, request))
  }

  watch(onWake: (queue: string | undefined) => void): () => void {
    const unwatch = this.#opened().connection.wakeSignal.watch(onWake)
    const stop = (): void => {
      unwatch()
      this.#stops.delete(stop)
    }
    this.#stops.add(stop)
    return stop
  }

  queues(): Awaitable<string[]> {
    return this.#read(null, listQueues)
  }

  workers(queue: string, withinMs: number): Awaitable<WorkerRow[]> {
    return this.#read(queue, (statements, store) => workersVerb(statements, store, withinMs))
  }

  history(queue: string, stepMs: number): Awaitable<HistoryReply> {
    return this.#read(queue, (statements, store) => historyVerb(statements, store, stepMs))
  }

  failedRuns(queue: string): Awaitable<FailedRun[]> {
    return this.#read(queue, failedRunsVerb)
  }

  buckets(): Awaitable<BucketRow[]> {
    return this.#read(null, listBuckets)
  }

  #transact(transaction: unknown): DriverTransaction {
    const { connection, library } = this.#opened()
    return transact(
      {
        file: connection.file,
        exclusive: this.#target.exclusive,
        library,
        time: connection.time(this.#clock),
        wrote: (isPending) => connection.wakeSignal.announceAfter(isPending),
      },
      transaction,
    )
  }

  #opened(): ConnectionShare {
    if (this.#share === undefined) throw notOpen()
    return this.#share
  }

  #write<T>(queue: string | null, work: Work<T>): Awaitable<T> {
    if (this.#share === undefined) return Promise.reject(notOpen())
    return this.#share.connection.write(this.#clock, queue, work)
  }

  #read<T>(queue: string | null, work: Work<T>): Awaitable<T> {
    if (this.#share === undefined) return Promise.reject(notOpen())
    return this.#share.connection.read(this.#clock, queue, work)
  }

  #writeTo<T>(queue: string, work: (tx: WriteTransaction) => T): Awaitable<T> {
    return this.#write(queue, (statements, store) => {
      const tx = new WriteTransaction(statements, queue, store)
      const value = work(tx)
      tx.end()
      return value
    })
  }

  /** Does `work` on a queue, and wakes the watchers: it may have made keys claimable. */
  #change<T>(queue: string, work: (tx: WriteTransaction) => T): Awaitable<T> {
    const wakeSignal = this.#share?.connection.wakeSignal
    const announced = (value: T): T => {
      wakeSignal?.announce(queue)
      return value
    }
    const done = this.#writeTo(queue, work)
    return isPromise(done) ? done.then(announced) : announced(done)
  }
}

/** A queue does not report ERR_CLOSED of a call that it makes automatically, so this is another code. */
function notOpen(): SluiceError {
  return new SluiceError('ERR_STORE', 'the driver is not open; queues open it')
}
