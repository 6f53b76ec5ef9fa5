import {
  type Ask,
  type Awaitable,
  type EpochMs,
  type FinishOutcome,
  type RunRequest,
  type RunResult,
  SluiceError,
  type Timer,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { EndOfRun } from '../driver/remarks.ts'
import { isTransient } from '../driver/retryable.ts'
import type { Held } from '../held/held.ts'
import type { HeldKey } from '../held/held-key.ts'
import { type RunEnd, readHandlerResult } from './handler-result.ts'
import {
  type HandlerContext,
  type HandlerResult,
  TerminalError,
  type WorkerOptions,
} from './worker.ts'

/** The options of a worker after checking. */
export type CheckedWorkerOptions<T> = Required<
  Pick<WorkerOptions<T>, 'handler' | 'abandonMs' | 'onExhausted' | 'onTerminal'>
> &
  Pick<WorkerOptions<T>, 'timeoutMs' | 'maxFailures' | 'onError'>

/**
 * Whether a run that threw this value is not tried again. The value may be no object, or a proxy.
 */
function isTerminal(error: unknown): boolean {
  try {
    return error instanceof TerminalError
  } catch {
    return false
  }
}

/** The context of a run. A signal is made only if the handler reads it. */
class RunContext implements HandlerContext {
  readonly key: string
  readonly token: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly #held: HeldKey<unknown>

  constructor(held: HeldKey<unknown>) {
    this.key = held.key
    this.token = held.token
    this.failures = held.failures
    this.crashes = held.crashes
    this.priority = held.priority
    this.#held = held
  }

  get signal(): AbortSignal {
    return this.#held.signal
  }
}

/**
 * One run of a handler, from taking the key to giving it back. It never rejects.
 *
 * A key is never given back under a handler that is still running. One that does not stop when it
 * is told to is abandoned: its lease is not renewed any more and expires. Where there is no lease,
 * the key is given back when the handler ends at last.
 */
export class HandlerRun<T> {
  readonly #core: QueueCore
  readonly #options: CheckedWorkerOptions<T>
  readonly #held: HeldKey<T>
  #timer: Timer | undefined
  /** Frees the slot; undefined once it is free. */
  #free: ((result: RunResult) => void) | undefined
  #isAbandoned = false
  #isTimedOut = false
  readonly #concurrency: number
  /** The store's time, and that of the process, at which the handler began. */
  readonly startedAt: EpochMs
  readonly #startedMs: number
  #tookMs: number | undefined
  /** The result, as far as it is known: a handler that never ends has failed. */
  #result: RunResult['result'] = 'error'
  #error: unknown
  /** The decision of `onExhausted`, which is called once. */
  #end: 'park' | 'drop' | undefined

  constructor(
    core: QueueCore,
    options: CheckedWorkerOptions<T>,
    held: HeldKey<T>,
    concurrency: number,
  ) {
    this.#core = core
    this.#options = options
    this.#held = held
    this.#concurrency = concurrency
    const { backend, calls, tally } = core
    this.startedAt = backend.estimatedNow()
    this.#startedMs = calls.handle.clock.monotonicMs()
    tally.started(backend.readyAt(held as HeldKey<unknown>), this.startedAt)
  }

  get key(): string {
    return this.#held.key
  }

  get failures(): number {
    return this.#held.failures
  }

  /** Resolves when the slot is free again: the key was given back, or the handler was abandoned. */
  run(): Awaitable<RunResult> {
    return this.#core.calls.traceRun(this, () => this.#run())
  }

  /** The request of the trace event. */
  request(): RunRequest {
    const { key, token, failures } = this.#held
    return { key, token, failures, concurrency: this.#concurrency }
  }

  #run(): Promise<RunResult> {
    return new Promise((resolve) => {
      this.#free = resolve
      this.#startTimer()
      void this.#work()
    })
  }

  /** Frees the slot, once: an abandoned handler may end later. */
  #freeSlot(): void {
    const free = this.#free
    if (free === undefined) return
    this.#free = undefined
    const error = this.#error
    const ms = this.#tookMs ?? this.#elapsedMs()
    this.#core.tally.ended(this, ms, this.#result === 'error' ? { error } : undefined)
    free({
      result: this.#result,
      isTerminal: isTerminal(error),
      isTimedOut: this.#isTimedOut,
      error,
    })
  }

  #elapsedMs(): number {
    return this.#core.calls.handle.clock.monotonicMs() - this.#startedMs
  }

  /** Aborts the signal of the handler. */
  abort(error: SluiceError): void {
    this.#held.abort(error)
    this.#watchAbandon()
  }

  /** Stops waiting for a handler that does not stop; whether this leaves its key behind. */
  abandon(): boolean {
    if (this.#isAbandoned || this.#held.phase === 'finished') return false
    this.#isAbandoned = true
    this.#core.lose(
      this.#held as HeldKey<unknown>,
      new SluiceError(
        'ERR_HANDLER_TIMEOUT',
        `the handler of key ${JSON.stringify(this.#held.key)} did not stop when it was told to; its ` +
          'lease is left to end',
      ),
    )
    this.#freeSlot()
    // A finish in flight reports its own outcome.
    return this.#held.phase === 'held'
  }

  #startTimer(): void {
    const { timeoutMs } = this.#options
    if (timeoutMs === undefined) return
    this.#timer = this.#core.calls.handle.clock.startTimer(timeoutMs, () => {
      this.#isTimedOut = true
      this.abort(
        new SluiceError(
          'ERR_HANDLER_TIMEOUT',
          `the handler of key ${JSON.stringify(this.#held.key)} takes longer than ${timeoutMs} ms`,
        ),
      )
    })
  }

  #watchAbandon(): void {
    this.#timer?.stop()
    this.#timer = this.#core.calls.handle.clock.startTimer(this.#options.abandonMs, () => {
      this.abandon()
    })
  }

  // One function that awaits twice, and no closures: each async call and each closure is an object
  // more for every key, and those were two thirds of the garbage of a worker.
  async #work(): Promise<void> {
    const held = this.#held as HeldKey<unknown>
    let result: HandlerResult
    let hasFailed = false
    let failure: unknown
    try {
      result = await this.#options.handler(this.#held.item, new RunContext(held))
    } catch (error) {
      hasFailed = true
      failure = error
    }
    this.#tookMs = this.#elapsedMs()
    if (hasFailed) this.#report(failure, this.#endOf(failure))
    this.#timer?.stop()
    const finish = (): Promise<FinishOutcome> =>
      hasFailed ? this.#failed(failure) : this.#succeeded(result)
    for (let isFirst = true; this.#mayFinish(); isFirst = false) {
      try {
        // The work is done; only the finish has to reach the store, which the lease leaves time
        // for.
        await (isFirst ? finish() : this.#core.calls.attempt(finish))
        break
      } catch (error) {
        const isOver = !isTransient(error) || held.isLost || this.#core.phase === 'closed'
        if (isFirst || isOver) this.#report(error)
        if (isOver) {
          // Perhaps not given back: the lease must expire, so that it is not renewed.
          this.abandon()
          break
        }
      }
    }
    this.#freeSlot()
  }

  /**
   * Whether the key is still this run's to give back. One that was abandoned is left to its lease;
   * without a lease only its handler can bring it back, however late.
   */
  #mayFinish(): boolean {
    return !this.#isAbandoned || this.#core.calls.options.leaseMs === Infinity
  }

  #succeeded(result: HandlerResult): Promise<FinishOutcome> {
    if (result === undefined) return this.#done()
    let end: RunEnd
    try {
      end = readHandlerResult(result, this.#held.priority)
    } catch (error) {
      this.#report(error, this.#endOf(error))
      return this.#failed(error)
    }
    if (end.as === 'done') return this.#done()
    if (end.as === 'requeue') return this.#requeue(end.priority)
    this.#result = end.as
    return this.#comeBack({ delayMs: end.delayMs }, end.priority, true)
  }

  #done(): Promise<FinishOutcome> {
    this.#result = 'success'
    return this.#held.finishDone(true)
  }

  async #requeue(priority: number): Promise<FinishOutcome> {
    this.#result = 'requeue'
    const held = this.#held
    if (priority === held.priority) return await held.retry()
    // A retry keeps the priority. Another priority takes an add that counts the failure, and a
    // done.
    const delay = held.policy.retryAs(held as HeldKey<unknown>)
    return await this.#comeBack({ ...delay, failed: true }, priority, false)
  }

  async #comeBack(
    delay: Pick<Ask, 'delayMs' | 'plan' | 'jitter' | 'failed'>,
    priority: number,
    forget: boolean,
  ): Promise<FinishOutcome> {
    const { key, itemText: item } = this.#held
    try {
      // Added before it is given back: a crash in between leaves the run pending.
      await this.#core.add({ key, item, priority, ...delay }, true)
    } catch (error) {
      if (isTransient(error) && !SluiceError.is(error, 'ERR_QUEUE_FULL')) throw error
      // The add was refused, but giving the key back as failed never is.
      this.#report(error)
      return await this.#held.retry(error)
    }
    return await this.#held.done({ forget })
  }

  async #failed(error: unknown): Promise<FinishOutcome> {
    this.#error = error
    const { onTerminal, maxFailures } = this.#options
    if (isTerminal(error)) {
      return onTerminal === 'park'
        ? await this.#held.park(error)
        : await this.#held.done({ forget: onTerminal === 'forget' })
    }
    if (maxFailures !== undefined && this.#held.failures + 1 >= maxFailures) {
      return await this.#exhausted(error)
    }
    return await this.#held.retry(error)
  }

  async #exhausted(error: unknown): Promise<FinishOutcome> {
    this.#end ??= await this.#askHowToEnd(error)
    return this.#end === 'drop'
      ? await this.#held.done({ forget: true })
      : await this.#held.park(error)
  }

  async #askHowToEnd(error: unknown): Promise<'park' | 'drop'> {
    const { onExhausted } = this.#options
    if (typeof onExhausted !== 'function') return onExhausted
    try {
      return await onExhausted(this.#held, error)
    } catch (failure) {
      // A parked key is kept, and visible to operators.
      this.#report(failure)
      return 'park'
    }
  }

  /** What becomes of the key after this failure. */
  #endOf(error: unknown): EndOfRun {
    const { onTerminal, onExhausted, maxFailures = Infinity } = this.#options
    if (isTerminal(error)) return onTerminal === 'park' ? 'parked' : 'dropped'
    if (this.#held.failures + 1 < maxFailures) return 'retried'
    if (typeof onExhausted === 'function') return 'decided'
    return onExhausted === 'park' ? 'parked' : 'dropped'
  }

  #report(error: unknown, end?: EndOfRun): void {
    const { onError } = this.#options
    if (onError === undefined) {
      const { key, failures } = this.#held
      this.#core.calls.reportRun({ key, failures, error, end })
      return
    }
    try {
      onError(error, this.#held as Held<T>)
    } catch {
      // An error of onError must not cause more of them.
    }
  }
}
