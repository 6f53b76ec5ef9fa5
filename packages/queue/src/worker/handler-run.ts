import {
  checkOneOf,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  type RunRequest,
  type RunResult,
  SluiceError,
  type Timer,
} from '@sluice/core'
import type { FinishReceiver } from '../core/backend.ts'
import type { QueueCore } from '../core/queue-core.ts'
import { type EndOfRun, failedRun } from '../driver/remarks.ts'
import { isTransient } from '../driver/retryable.ts'
import { giveBack, mayStart } from '../held/give-back.ts'
import type { Held } from '../held/held.ts'
import type { HeldKey } from '../held/held-key.ts'
import { type RunEnd, readHandlerResult } from './handler-result.ts'
import { RunContext } from './run-context.ts'
import { isTerminal } from './terminal-error.ts'
import { type UnacknowledgedRun, WorkTally } from './work-tally.ts'
import type { HandlerResult, OnExhausted } from './worker.ts'
import type { CheckedWorkerOptions } from './worker-options.ts'

/** The worker that runs a handler, as its run knows it. */
export interface RunOwner {
  readonly concurrency: number
  /** Whether no handler may begin any more. */
  isEnding(): boolean
  /** The handler is about to be called. */
  onStarted(run: UnacknowledgedRun): void
  /** The handler has returned, and the finish of its key waits for the store. */
  onFinishing(run: UnacknowledgedRun): void
  /** The wait for the store has ended. */
  onAcknowledged(run: UnacknowledgedRun): void
}

const nextStep = Promise.resolve()

/**
 * One run of a handler, from taking the key to the acknowledgement of its finish. It never rejects.
 *
 * The slot is free when the handler has returned; the finish is handed over in the same turn. A key is never
 * given back under a handler that is still running. One that does not stop when it is told to is abandoned: its
 * lease is not renewed any more and expires. Where there is no lease, the key is given back when the handler ends.
 */
export class HandlerRun<T> implements UnacknowledgedRun, FinishReceiver {
  readonly #core: QueueCore
  readonly #tally: WorkTally
  readonly #options: CheckedWorkerOptions<T>
  readonly #held: HeldKey<T>
  readonly #owner: RunOwner
  #timer: Timer | undefined
  readonly #ran: Promise<RunResult | undefined>
  /** Frees the slot; undefined once it is free. */
  #free: ((result?: RunResult) => void) | undefined
  #isAbandoned = false
  #isTimedOut = false
  /** The store's time, and that of the process, at which the handler began. */
  startedAt: EpochMs = 0
  #startedMs = 0
  #tookMs: number | undefined
  /** The result, as far as it is known: a handler that never ends has failed. */
  #result: RunResult['result'] = 'error'
  #error: unknown
  /** How the key is given back; undefined until that is decided. */
  #finish: Finish | undefined
  #isUnacknowledged = false
  #isGivenUp = false
  #onAcknowledged: (() => void)[] | undefined

  constructor(
    core: QueueCore,
    options: CheckedWorkerOptions<T>,
    held: HeldKey<T>,
    owner: RunOwner,
  ) {
    this.#core = core
    this.#options = options
    this.#held = held
    this.#owner = owner
    this.#tally = WorkTally.of(core)
    this.#ran = new Promise((resolve) => {
      this.#free = resolve
    })
  }

  get key(): string {
    return this.#held.key
  }

  get failures(): number {
    return this.#held.failures
  }

  /**
   * Resolves when the slot is free again: the handler has returned, was abandoned, or may not start.
   *
   * The handler starts when the loop of the slot awaits this. What it does to its asynchronous context,
   * as `AsyncLocalStorage.enterWith` does, would otherwise reach the handlers after it.
   */
  run(): Promise<unknown> {
    void nextStep.then(() => this.#start())
    return this.#ran
  }

  /** Starts the handler, unless other work since the key was handed out has taken too long. */
  #start(): void {
    const held = this.#held as HeldKey<unknown>
    // A stop or a close that has begun gives the grace only to handlers that ran then.
    const isEnding = this.#owner.isEnding()
    if (isEnding) void giveBack(held)
    if (isEnding || !mayStart(held)) {
      this.#free?.()
      return
    }
    const { backend, calls } = this.#core
    this.startedAt = backend.estimatedNow()
    this.#startedMs = calls.handle.clock.monotonicMs()
    this.#tally.started(backend.readyAt(held), this.startedAt)
    this.#owner.onStarted(this)
    calls.traceRun(this)
  }

  /** The request of the trace event. */
  request(): RunRequest {
    const { key, token, failures } = this.#held
    return { key, token, failures, concurrency: this.#owner.concurrency }
  }

  /** Calls the handler. */
  begin(): Promise<RunResult | undefined> {
    this.#startTimer()
    void this.#work()
    return this.#ran
  }

  /** Frees the slot, once: an abandoned handler may end later. */
  #freeSlot(): void {
    const free = this.#free
    if (free === undefined) return
    this.#free = undefined
    const error = this.#error
    const ms = this.#tookMs ?? this.#elapsedMs()
    this.#core.claims.onRan(ms)
    this.#tally.ended(this, ms, this.#result === 'error' ? { error } : undefined)
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

  /** Stops waiting for a handler that does not stop; the error, if this leaves its key behind. */
  abandon(): SluiceError | undefined {
    if (this.#isAbandoned || this.#held.phase === 'finished') return undefined
    const error = this.#leaveToLease('did not stop when told to, and lost its slot')
    this.#freeSlot()
    return error
  }

  /** Stops waiting for the store: the finish may take effect, or the key runs again. */
  giveUp(): void {
    this.#isGivenUp = true
    this.#leaveToLease('has ended, which the store has not acknowledged')
    this.#acknowledged()
  }

  /** The lease of the key is not renewed any more. */
  #leaveToLease(what: string): SluiceError {
    this.#isAbandoned = true
    const error = this.#timedOut(what)
    this.#core.lose(this.#held as HeldKey<unknown>, error)
    return error
  }

  #timedOut(what: string): SluiceError {
    const key = JSON.stringify(this.#held.key)
    return new SluiceError('ERR_HANDLER_TIMEOUT', `the handler of key ${key} ${what}`)
  }

  #startTimer(): void {
    const { timeoutMs } = this.#options
    if (timeoutMs === undefined) return
    this.#timer = this.#core.calls.handle.clock.startTimer(timeoutMs, () => {
      this.#isTimedOut = true
      this.abort(this.#timedOut(`takes longer than ${timeoutMs} ms`))
    })
  }

  #watchAbandon(): void {
    if (this.#isAbandoned) return
    this.#timer?.stop()
    this.#timer = this.#core.calls.handle.clock.startTimer(this.#options.abandonMs, () => {
      const error = this.abandon()
      if (error !== undefined) this.#report(error, 'abandoned')
    })
  }

  // It awaits once and makes no closures: objects like these were two thirds of the garbage of a worker.
  async #work(): Promise<void> {
    const held = this.#held as HeldKey<unknown>
    let result: HandlerResult
    let hasFailed = false
    let failure: unknown
    try {
      result = await this.#options.handler(this.#held.item, new RunContext(held))
    } catch (error) {
      hasFailed = true
      // A key that is given back without an error counts no failure when it is parked, and keeps the
      // error of an earlier run.
      failure = error === undefined ? new Error('the handler threw undefined') : error
    }
    this.#tookMs = this.#elapsedMs()
    // A run that was told to end because the worker stops has not failed.
    if (hasFailed && !isTerminal(failure) && SluiceError.is(held.signal.reason, 'ERR_CLOSING')) {
      hasFailed = false
      this.#finish = { as: 'release', key: held.key, token: held.token }
    } else if (hasFailed) this.#report(failure, this.#endOf(failure))
    this.#timer?.stop()
    try {
      if (this.#mayFinish()) {
        const deciding = hasFailed ? this.#failed(failure) : this.#succeeded(result)
        if (deciding !== undefined) await deciding
        this.#timer?.stop()
        if (this.#mayFinish()) this.#handOver()
      }
    } catch (error) {
      this.#report(error)
      this.abandon()
    }
    this.#freeSlot()
  }

  /**
   * Whether the key is still this run's to give back. One that was abandoned is left to its lease;
   * without a lease only its handler can bring it back, however late.
   */
  #mayFinish(): boolean {
    // `onExhausted` may have finished it.
    if (this.#held.phase !== 'held') return false
    return !this.#isAbandoned || this.#core.calls.options.leaseMs === Infinity
  }

  /** Decides how the key is given back after a run that went well. */
  #succeeded(result: HandlerResult): Promise<void> | undefined {
    if (result === undefined) {
      this.#result = this.#finish === undefined ? 'success' : 'requeue'
      return undefined
    }
    const held = this.#held
    let end: RunEnd
    try {
      end = readHandlerResult(result, held.priority)
    } catch (error) {
      this.#report(error, this.#endOf(error))
      return this.#failed(error)
    }
    this.#result = end.as === 'done' ? 'success' : end.as
    if (end.as === 'requeue') this.#finish = held.retryFinish(undefined, end.priority)
    else if (end.as !== 'done') {
      const { delayMs, priority } = end
      this.#finish = held.doneFinish(true, { delayMs, priority })
    }
    return undefined
  }

  /** Decides how the key is given back after a run that failed. */
  #failed(error: unknown): Promise<void> | undefined {
    this.#error = error
    const next = this.#afterFailure(error)
    if (typeof next === 'function') return this.#askHowToEnd(next, error)
    if (next === 'retry') this.#finish = this.#held.retryFinish(error)
    else this.#end(next)
    return undefined
  }

  /** What the options say of a key whose run has failed. */
  #afterFailure(error: unknown): 'retry' | OnExhausted<T> | CheckedWorkerOptions<T>['onTerminal'] {
    const { onTerminal, onExhausted, maxFailures = Infinity } = this.#options
    if (isTerminal(error)) return onTerminal
    const { failures, crashes } = this.#held
    // Crashes, failures too, have a limit of their own.
    return failures - crashes + 1 >= maxFailures ? onExhausted : 'retry'
  }

  /** The same in the words of reports. */
  #endOf(error: unknown): EndOfRun {
    const next = this.#afterFailure(error)
    if (typeof next === 'function') return 'decided'
    if (next === 'retry') return 'retried'
    return next === 'park' ? 'parked' : 'dropped'
  }

  #end(as: 'done' | 'forget' | 'drop' | 'park'): void {
    const held = this.#held
    this.#finish =
      as === 'park' ? held.parkFinish(this.#error) : held.doneFinish(as !== 'done', undefined)
  }

  async #askHowToEnd(ask: Exclude<OnExhausted<T>, string>, error: unknown): Promise<void> {
    try {
      const end = await ask(this.#held, error)
      if (this.#mayFinish()) this.#end(checkOneOf('onExhausted(held)', end, ['park', 'drop']))
    } catch (failure) {
      // A parked key is kept, and visible to operators.
      this.#report(failure)
      this.#end('park')
    }
  }

  /** Hands over the finish. From now on an abort changes nothing. */
  #handOver(): void {
    const held = this.#held as HeldKey<unknown>
    held.noteReturned()
    const { direct } = this.#core
    if (direct !== undefined && this.#finish === undefined) {
      held.doneDirect(direct, true)
      return
    }
    this.#isUnacknowledged = true
    this.#finish ??= held.doneFinish(true, undefined)
    this.#core.finishFor(held, this.#finish, this)
    // A driver in this process has answered.
    if (held.phase !== 'finished') this.#owner.onFinishing(this)
  }

  finished(outcome: FinishOutcome): void {
    if (outcome === 'lost' && this.#core.phase !== 'closed') this.#tally.lostFinishes += 1
    this.#acknowledged()
  }

  finishFailed(error: unknown): void {
    void this.#repeatFinish(error)
  }

  /**
   * Repeats a finish until it is acknowledged: the work is done, only that has to reach the store.
   */
  async #repeatFinish(firstError: unknown): Promise<void> {
    const { calls } = this.#core
    const send = (): Promise<FinishOutcome> =>
      this.#core.finish(this.#held as HeldKey<unknown>, this.#finish as Finish)
    let error = firstError
    let isReported = false
    // A finish that is given up is named in the error of the stop or close that did so.
    while (!this.#isGivenUp && this.#core.phase !== 'closed') {
      if (!isReported) this.#report(error)
      isReported = true
      // Also after the local deadline: the token guards the key, which may still be held under it.
      if (!isTransient(error)) {
        // Perhaps not given back: the lease must expire, so that it is not renewed.
        this.giveUp()
        return
      }
      try {
        this.finished(await calls.attempt(send))
        return
      } catch (failure) {
        error = failure
      }
    }
    this.#acknowledged()
  }

  #acknowledged(): void {
    if (!this.#isUnacknowledged) return
    this.#isUnacknowledged = false
    this.#owner.onAcknowledged(this)
    for (const resolve of this.#onAcknowledged ?? []) resolve()
  }

  acknowledgement(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#isUnacknowledged) resolve()
      else this.#onAcknowledged = [...(this.#onAcknowledged ?? []), resolve]
    })
  }

  #report(error: unknown, end?: EndOfRun): void {
    const { calls } = this.#core
    const { onError } = this.#options
    const held = this.#held
    calls.tell(onError && (() => onError(error, held as Held<T>)), () =>
      calls.remark(failedRun({ held, error, described: calls.described(error), end })),
    )
  }
}
