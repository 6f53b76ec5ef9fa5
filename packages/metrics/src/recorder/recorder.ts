import type {
  Ask,
  AskOptions,
  AskReply,
  CancelOutcome,
  Driver,
  ExpireOutcome,
  Failure,
  Finish,
  FinishReply,
  Lease,
  RunRequest,
  RunResult,
  SluiceEvent,
  Ticker,
} from '@sluice/core'
import type { CounterMetric } from '../provider/provider.ts'
import type { Moment, SeenClaim } from '../queue/ledger-entries.ts'
import { QueueMeters } from '../queue/queue-meters.ts'
import { inStore, QueueRecord, type StoreRecord } from '../queue/queue-record.ts'
import { listen } from './listener.ts'
import {
  type CheckedRecorderOptions,
  type CustomRecorderOptions,
  checkRecorderOptions,
} from './recorder-options.ts'
import { StoreReader } from './store-reader.ts'

/** How many queues are kept, closed or not, before closed ones that are not read are dropped. */
const namesMaxMin = 1_000

/** How often the ages of running keys are updated, as in the original. */
const refreshMs = 500

/** The members of requests and answers that are read here. */
interface Seen {
  readonly asks: readonly Ask[]
  readonly options: AskOptions
  readonly merged?: number
  readonly keys: readonly string[]
  readonly key: string
  readonly finishes: readonly Finish[]
  readonly leases: readonly Lease[]
  readonly verb: string
  readonly token: number
  readonly concurrency: number
}

/** Records the queues of this process. */
export interface Recorder {
  /**
   * Updates the metrics that are read from the store. Concurrent calls share one reading. Resolves
   * even if the store does not answer: after the timeout the old values stay, and after an error,
   * with which `onError` is called, nothing is exported.
   */
  read(): Promise<void>
  /** Stops recording, and leaves the election. Recorded values stay. */
  close(): Promise<void>
}

class ChannelRecorder implements Recorder {
  readonly #options: CheckedRecorderOptions
  readonly #queues = new Map<string, QueueRecord>()
  readonly #retries = new Map<string, CounterMetric>()
  readonly #reader: StoreReader
  readonly #stopListening: () => void
  #ticker: Ticker | undefined
  #reading: Promise<void> | undefined
  #namesMax = namesMaxMin
  #isClosed = false

  constructor(options: CheckedRecorderOptions) {
    this.#options = options
    this.#reader = new StoreReader(options, this.#queues)
    for (const name of options.queues ?? []) {
      const queue = this.#queue(name)
      if (options.driver !== undefined) queue.store(options.driver)
    }
    this.#stopListening = listen(
      {
        started: (event) => this.#started(event),
        answered: (event) => this.#answered(event),
        noticed: (event) => this.#noticed(event),
      },
      options.onError,
    )
  }

  #queue(name: string): QueueRecord {
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      if (this.#queues.size >= this.#namesMax) {
        this.#dropClosed(() => true)
        this.#namesMax = Math.max(namesMaxMin, 2 * this.#queues.size)
      }
      queue = new QueueRecord(new QueueMeters(this.#options.provider, name))
      this.#queues.set(name, queue)
    }
    return queue
  }

  /** Drops closed queues, except those in the option `queues`. */
  #dropClosed(isDue: (queue: QueueRecord) => boolean): void {
    const { provider, queues: named, onError } = this.#options
    for (const [name, queue] of this.#queues) {
      if (!queue.isClosed || named?.includes(name) === true || !isDue(queue)) continue
      this.#queues.delete(name)
      try {
        provider.forgetQueue?.(name)
      } catch (error) {
        onError(error)
      }
    }
  }

  /** The metrics of a closed queue are read once more, and then dropped. */
  #dropRead(): void {
    this.#dropClosed((queue) => {
      const { wasReadClosed } = queue
      queue.wasReadClosed = true
      return wasReadClosed
    })
  }

  /** The record of an event's queue; `undefined` if that queue is not recorded. */
  #recordOf({ queue: name, source }: SluiceEvent): QueueRecord | undefined {
    const { driver, queues } = this.#options
    if (name === '' || source === undefined) return undefined
    if (driver !== undefined && source !== driver) return undefined
    if (queues !== undefined && !queues.includes(name)) return undefined
    return this.#queue(name)
  }

  #moment(): Moment {
    const { clock } = this.#options
    return { now: clock.now(), monotonicMs: clock.monotonicMs() }
  }

  #started(event: SluiceEvent): void {
    const queue = this.#recordOf(event)
    if (queue === undefined) return
    if (event.verb === 'run') {
      const { concurrency } = event.request as RunRequest
      queue.runStarted(event, concurrency, this.#moment().monotonicMs)
    } else if (event.verb !== 'error') {
      // Only a call of the driver shows that the queue object is open: other events may follow its
      // close.
      queue.seen(event.holder, event.source as Driver)
    }
    this.#startTicker()
  }

  /** A delay around a queue of another library, of which only the retries are known. */
  #retried({ queue: name }: SluiceEvent): void {
    const { driver, queues, provider } = this.#options
    if (name === '' || driver !== undefined || queues?.includes(name) === false) return
    let retries = this.#retries.get(name)
    if (retries === undefined) {
      retries = provider.newRetriesMetric(name)
      this.#retries.set(name, retries)
    }
    retries.inc()
  }

  #noticed(event: SluiceEvent): void {
    if (event.verb === 'add-after') {
      this.#retried(event)
      return
    }
    const queue = this.#recordOf(event)
    if (queue === undefined) return
    const { holder, verb } = event
    const source = event.source as Driver
    const { token, concurrency } = (event.request ?? {}) as Seen
    if (verb === 'lease-lost' || verb === 'held-dropped') {
      queue.stores.get(source)?.ledger.lost(token)
    } else if (verb === 'worker-started') {
      queue.seen(holder, source)
      queue.workerStarted(holder, concurrency)
    } else if (verb === 'worker-stopped') queue.workerStopped(holder, concurrency)
    else if (verb === 'shut-down') queue.shutDown(holder)
    else if (verb === 'closed') queue.closed(holder, source)
  }

  #answered(event: SluiceEvent): void {
    const queue = this.#recordOf(event)
    if (queue === undefined) return
    const moment = this.#moment()
    if (event.verb === 'run') {
      queue.runEnded(event, event.result as RunResult, moment.monotonicMs)
      return
    }
    const source = event.source as Driver
    if (queue.isInUse(source)) this.#recordAnswer(event, queue, queue.store(source), moment)
  }

  #recordAnswer(event: SluiceEvent, queue: QueueRecord, store: StoreRecord, here: Moment): void {
    const { ledger } = store
    const request = event.request as Seen
    const replies = event.result as readonly unknown[]
    const now = (event.result as { readonly now?: unknown }).now
    if (typeof now === 'number') store.offsetMs = now - here.monotonicMs
    const moment = inStore(store, here)
    switch (event.verb) {
      case 'add':
        if (request.merged) queue.meters.deduplicated.inc(request.merged)
        request.asks.forEach((ask, index) => {
          ledger.asked(ask, replies[index] as AskReply | Failure, request.options, moment)
        })
        return
      case 'claim':
      case 'adopt': {
        const forWorker = queue.hasWorker(event.holder)
        const claims =
          event.verb === 'adopt'
            ? (event.result as readonly SeenClaim[])
            : (event.result as { readonly claims: readonly SeenClaim[] }).claims
        for (const claim of claims) ledger.claimed(claim, event.holder, moment, forWorker)
        return
      }
      case 'finish':
        request.finishes.forEach((finish, index) => {
          const reply = replies[index] as FinishReply | Failure
          ledger.finished(finish, reply, request.options.dedupe, moment)
        })
        return
      case 'expire':
        ledger.expired(request.leases, replies as readonly (ExpireOutcome | Failure)[], moment)
        return
      case 'cancel':
        request.keys.forEach((key, index) => {
          if ((replies as readonly (CancelOutcome | Failure)[])[index] === 'cancelled')
            ledger.cancelled(key)
        })
        return
      case 'operate':
        this.#recordOperation(request, event.result, store, moment)
    }
  }

  #recordOperation(
    { verb, keys, key, token }: Seen,
    result: unknown,
    { ledger }: StoreRecord,
    moment: Moment,
  ): void {
    if (verb === 'purge') ledger.purged()
    if (!Array.isArray(result)) return
    if (verb === 'release') {
      for (const reply of result) ledger.released(key, token, reply as FinishReply, moment)
      return
    }
    keys.forEach((key, index) => {
      if (result[index] !== 'changed') return
      if (verb === 'remove') ledger.cancelled(key)
      else if (verb === 'park') ledger.parked(key)
      else if (verb === 'unpark') ledger.unparked(key, moment)
      else if (verb === 'runNow') ledger.ranNow(key, moment)
    })
  }

  #startTicker(): void {
    if (this.#ticker !== undefined || this.#isClosed) return
    this.#ticker = this.#options.clock.startTicker(refreshMs, () => this.#tick())
  }

  /** Refreshes the open queues. The gauges of queues that are shut down do not change. */
  #tick(): void {
    const moment = this.#moment()
    let isAnyTicking = false
    for (const queue of this.#queues.values()) {
      if (!queue.isTicking) continue
      isAnyTicking = true
      try {
        queue.refresh(moment)
      } catch (error) {
        this.#options.onError(error)
      }
    }
    if (isAnyTicking) return
    this.#ticker?.stop()
    this.#ticker = undefined
  }

  /**
   * Counts in the keys that became due since the last refresh: what is read from the store at the same time no
   * longer has them as delayed.
   */
  #promote(): void {
    const moment = this.#moment()
    for (const queue of this.#queues.values()) {
      try {
        queue.promote(moment)
      } catch (error) {
        this.#options.onError(error)
      }
    }
  }

  read(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    if (this.#reading === undefined) {
      this.#dropRead()
      this.#promote()
      this.#reading = this.#reader.read().finally(() => {
        this.#reading = undefined
      })
    }
    return this.#reading
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopListening()
    this.#ticker?.stop()
    this.#ticker = undefined
    await this.#reading
    await this.#reader.leave()
    this.#queues.clear()
  }
}

/**
 * Starts to record the queues of this process, by the rules of client-go, until it is closed.
 * Throws for bad options only.
 *
 * It subscribes to one channel, so it can be started at any time; keys that were ready before are
 * counted when they are claimed. Queues with an empty name are not recorded.
 */
export function createRecorder(options: CustomRecorderOptions): Recorder {
  return new ChannelRecorder(checkRecorderOptions(options))
}
