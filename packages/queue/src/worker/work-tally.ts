import {
  canonicalJson,
  durationBoundsMs,
  type EpochMs,
  type ExpireOutcome,
  type Failure,
  type LimiterPlan,
  never,
  type RunRequest,
  SluiceError,
  type Timer,
  type WorkerInfo,
  type WorkerStats,
  type WorkRecord,
} from '@sluice/core'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { Described } from '../driver/describe-failure.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { thisProcess } from '../environment/environment.ts'
import { UnsentWork } from './unsent-work.ts'

/** The longest plan and the longest key that a worker registers, in characters of JSON. */
const textMax = 1_000

/** A run of a handler. */
interface RunningHandler {
  readonly key: string
  readonly startedAt: EpochMs
  request(): RunRequest
  /** Aborts its signal; a handler that does not stop loses its slot in time. */
  abort(error: SluiceError): void
}

/** A run of a handler that has ended. */
export interface EndedRun extends Pick<RunningHandler, 'key' | 'startedAt'> {
  readonly failures: number
}

/** One worker that runs. */
export interface RunningWorker {
  readonly concurrency: number
  /** Its runs, in the order in which they began. */
  readonly runs: ReadonlySet<RunningHandler>
  /** The timer of its heartbeats, which keeps the process alive. */
  readonly timer: Timer
}

/** A run whose handler has returned, and whose finish the store has not acknowledged. */
export interface UnacknowledgedRun {
  readonly key: string
  /** Resolves when the finish is acknowledged, or given up. */
  acknowledgement(): Promise<void>
}

/** The record of a run that failed without an error: its handler was abandoned. */
const unknownFailure: Described = {
  text: '{"name":"SluiceError","code":"ERR_HANDLER_TIMEOUT","message":"the handler did not stop"}',
  code: 'ERR_HANDLER_TIMEOUT',
}

function isUnknown(error: unknown): boolean {
  return SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || SluiceError.is(error, 'ERR_TIMEOUT')
}

function noCounts(): number[] {
  return new Array<number>(durationBoundsMs.length + 1).fill(0)
}

function count(counts: number[], ms: number): void {
  let at = 0
  while (at < durationBoundsMs.length && ms > durationBoundsMs[at]!) at += 1
  counts[at]! += 1
}

function textOf(plan: LimiterPlan): string | undefined {
  const text = canonicalJson(plan, 'limiter.plan')
  return text.length <= textMax ? text : undefined
}

/** The queue object that the workers take keys from. */
export interface TalliedQueue {
  tally: WorkTally | undefined
  readonly calls: DriverCalls
  readonly plans: RetryPlans
  readonly asked: number
  readonly merged: number
}

/** Counts the runs of the workers on one queue object; to the store they are one worker. */
export class WorkTally {
  readonly #queue: TalliedQueue
  readonly #workers = new Set<RunningWorker>()
  #started = 0
  #runs = 0
  #failed = 0
  #leaseEnds = 0
  /** Slots of workers that run a handler, or wait for a key. */
  active = 0
  /** The slots of all workers. */
  slots = 0
  /** Runs that the store has not acknowledged, by their keys. */
  readonly finishing: Map<string, UnacknowledgedRun> = new Map()
  #onAcknowledgement: (() => void)[] = []
  #onEnded: (() => void)[] = []
  /** How many finishes came too late: the lease was lost before. */
  lostFinishes = 0
  /** The worker of this process is registered with the store, as far as is known. */
  isRegistered = false
  #sentAt = 0
  #sentConcurrency = 0
  readonly #wait: number[] = noCounts()
  readonly #work: number[] = noCounts()

  readonly #unsent: UnsentWork = new UnsentWork()

  private constructor(queue: TalliedQueue) {
    this.#queue = queue
  }

  /** The tally of a queue object; its first worker makes it, and begins it at once. */
  static of(queue: TalliedQueue): WorkTally {
    queue.tally ??= new WorkTally(queue)
    return queue.tally
  }

  begin(worker: RunningWorker): void {
    this.#workers.add(worker)
    this.slots += worker.concurrency
  }

  end(worker: RunningWorker): void {
    if (this.#workers.delete(worker)) this.slots -= worker.concurrency
    if (this.#workers.size > 0) return
    const ended = this.#onEnded
    this.#onEnded = []
    for (const resolve of ended) resolve()
  }

  /** Resolves when every worker has ended. */
  async allEnded(): Promise<void> {
    if (this.#workers.size === 0) return
    await new Promise<void>((resolve) => {
      this.#onEnded.push(resolve)
    })
  }

  /** The queue is closed: handlers that do not end keep the process alive no longer. */
  unref(): void {
    for (const { timer } of this.#workers) timer.unref()
  }

  /** The keys whose handlers run. */
  runningKeys(): string[] {
    return [...this.#workers].flatMap(({ runs }) => [...runs].map(({ key }) => key))
  }

  /** The lease of a token is lost: aborts the handler that runs under it. */
  lost(token: number, error: SluiceError): void {
    for (const { runs } of this.#workers) {
      for (const run of runs) if (run.request().token === token) run.abort(error)
    }
  }

  /**
   * Resolves when the store has acknowledged the finish of a run of any worker: they share the room
   * for such finishes, so that a loop may wait for those of another worker only.
   */
  nextAcknowledgement(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAcknowledgement.push(resolve)
    })
  }

  /** Lets every loop that waits for an acknowledgement look again. */
  wakeLoops(): void {
    if (this.#onAcknowledgement.length === 0) return
    const waiting = this.#onAcknowledgement
    this.#onAcknowledgement = []
    for (const resolve of waiting) resolve()
  }

  /** A handler begins to run a key that was ready since `readyAt`. */
  started(readyAt: EpochMs, now: EpochMs): void {
    this.#started += 1
    if (readyAt !== never) count(this.#wait, now - readyAt)
  }

  /** A handler has ended, or was abandoned, after so long; with `failure`, it has failed. */
  ended(run: EndedRun, ms: number, failure?: { readonly error: unknown }): void {
    this.#runs += 1
    count(this.#work, ms)
    if (failure === undefined) return
    this.#failed += 1
    const { calls } = this.#queue
    if (!calls.driver.capabilities.history) return
    const { key, failures, startedAt } = run
    const described = calls.described(failure.error) ?? unknownFailure
    this.#unsent.failed({ at: startedAt + ms, key, failures, ...described })
  }

  /**
   * The record to send with a registration; `undefined` where the store keeps none. It counts as
   * sent: {@link putBack} undoes that.
   */
  takeRecord(): WorkRecord | undefined {
    const { calls, asked, merged } = this.#queue
    if (!calls.driver.capabilities.history) return undefined
    const totals = {
      started: this.#started,
      done: this.#runs - this.#failed,
      failed: this.#failed,
      added: asked - merged,
      merged,
      expired: this.#leaseEnds,
    }
    return this.#unsent.take(totals, calls.holder)
  }

  /** The store has not added a record: it is sent again as part of the next one. */
  putBack(record: WorkRecord): void {
    this.#unsent.putBack(record)
  }

  /**
   * The tick with a record has failed. Nothing is counted twice: a record that may have arrived is
   * not sent again.
   */
  recordFailed(record: WorkRecord, error: unknown): void {
    if (isUnknown(error)) return
    this.#unsent.putBack(record)
  }

  leasesEnded(outcomes: readonly (ExpireOutcome | Failure)[]): void {
    for (const outcome of outcomes) {
      if (outcome === 'expired' || outcome === 'parked') this.#leaseEnds += 1
    }
  }

  /**
   * Whether the worker is to be registered with the store at `now` (monotonic): `everyMs` after the
   * last time, and when the concurrency has changed.
   */
  isDue(now: number, everyMs: number): boolean {
    if (!this.isRegistered || now - this.#sentAt >= everyMs) return true
    return this.slots !== this.#sentConcurrency
  }

  /** The registration to send if one is due; it then counts as sent. */
  dueWorker(now: number, everyMs: number): WorkerInfo | undefined {
    if (!this.isDue(now, everyMs)) return undefined
    const worker = this.worker()
    this.isRegistered = true
    this.#sentAt = now
    this.#sentConcurrency = this.slots
    return worker
  }

  /** The registration. */
  worker(): WorkerInfo {
    const { calls, plans } = this.#queue
    const { holder, options } = calls
    const { dedupe, leaseMs } = options
    const limiter = plans.retry === undefined ? undefined : textOf(plans.retry)
    return {
      holder,
      ...thisProcess(),
      concurrency: this.slots,
      settings: {
        dedupe,
        leaseMs: leaseMs === Infinity ? 'none' : leaseMs,
        ...(limiter === undefined ? {} : { limiter }),
      },
      stats: this.#stats(),
    }
  }

  #stats(): WorkerStats {
    const { asked, merged } = this.#queue
    let busy = 0
    let longest: RunningHandler | undefined
    for (const { runs } of this.#workers) {
      busy += runs.size
      for (const run of runs) {
        if (longest === undefined || run.startedAt < longest.startedAt) longest = run
        break
      }
    }
    const isTold = longest !== undefined && JSON.stringify(longest.key).length <= textMax
    return {
      busy,
      finishing: this.finishing.size,
      runs: this.#runs,
      failed: this.#failed,
      asked,
      merged,
      leaseEnds: this.#leaseEnds,
      lost: this.lostFinishes,
      wait: [...this.#wait],
      work: [...this.#work],
      ...(longest !== undefined && isTold
        ? { longest: { key: longest.key, startedAt: longest.startedAt } }
        : {}),
    }
  }
}
