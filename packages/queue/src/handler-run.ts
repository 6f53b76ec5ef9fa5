import {
  delayMsMax,
  type FinishOutcome,
  type RunRequest,
  type RunResult,
  SluiceError,
  SluiceTypeError,
  type Timer,
} from '@sluice/core'
import type { Engine } from './engine.ts'
import type { Held } from './held.ts'
import type { HeldKey } from './held-key.ts'
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
 * One run of a handler, from taking the key to giving it back. It never rejects.
 *
 * A key is never given back under a handler that is still running. One that does not stop when it is
 * told to is abandoned: its lease is not renewed any more and ends by itself.
 */
export class HandlerRun<T> {
  readonly #engine: Engine
  readonly #options: CheckedWorkerOptions<T>
  readonly #held: HeldKey<T>
  #timer: Timer | undefined
  #abandon: (() => void) | undefined
  #isAbandoned = false
  #isTimedOut = false
  readonly #concurrency: number
  /** What came of it, as far as is known: a handler that never ends has failed. */
  #result: RunResult['result'] = 'error'
  #error: unknown

  constructor(
    engine: Engine,
    options: CheckedWorkerOptions<T>,
    held: HeldKey<T>,
    concurrency: number,
  ) {
    this.#engine = engine
    this.#options = options
    this.#held = held
    this.#concurrency = concurrency
  }

  /** Resolves when the slot is free again: the key was given back, or the handler was abandoned. */
  async run(): Promise<void> {
    const { key, token, failures } = this.#held
    const request: RunRequest = { key, token, failures, concurrency: this.#concurrency }
    await this.#engine.traceRun(request, () => this.#run())
  }

  #run(): Promise<RunResult> {
    return new Promise((resolve) => {
      const end = (): void => resolve(this.#ended())
      this.#abandon = end
      this.#startTimer()
      void this.#work().then(end)
    })
  }

  #ended(): RunResult {
    const error = this.#error
    return {
      result: this.#result,
      isTerminal: error instanceof TerminalError,
      isTimedOut: this.#isTimedOut,
      error,
    }
  }

  /** Tells the handler to stop. */
  abort(error: SluiceError): void {
    this.#held.abort(error)
    this.#watchAbandon()
  }

  /** Stops waiting for a handler that does not stop. */
  abandon(): void {
    if (this.#isAbandoned || this.#held.phase === 'finished') return
    this.#isAbandoned = true
    this.#engine.lose(
      this.#held as HeldKey<unknown>,
      new SluiceError(
        'ERR_HANDLER_TIMEOUT',
        `the handler of key ${JSON.stringify(this.#held.key)} did not stop when it was told to; its ` +
          'lease is left to end',
      ),
    )
    this.#abandon?.()
  }

  #startTimer(): void {
    const { timeoutMs } = this.#options
    if (timeoutMs === undefined) return
    this.#timer = this.#engine.store.clock.startTimer(timeoutMs, () => {
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
    this.#timer = this.#engine.store.clock.startTimer(this.#options.abandonMs, () => {
      this.abandon()
    })
  }

  async #work(): Promise<void> {
    let result: HandlerResult
    try {
      result = await this.#options.handler(this.#held.item, this.#context())
    } catch (error) {
      await this.#settle(() => this.#failed(error))
      return
    }
    await this.#settle(() => this.#succeeded(result))
  }

  #context(): HandlerContext {
    const held = this.#held
    const { key, token, failures, crashes, priority } = held
    return {
      key,
      token,
      failures,
      crashes,
      priority,
      // Made only if the handler looks at it.
      get signal() {
        return held.signal
      },
    }
  }

  async #settle(finish: () => Promise<FinishOutcome>): Promise<void> {
    this.#timer?.stop()
    if (this.#isAbandoned) return
    try {
      await finish()
    } catch (error) {
      // Not given back, as far as anybody knows: the lease must end, so it is not renewed.
      this.#report(error)
      this.abandon()
    }
  }

  async #succeeded(result: HandlerResult): Promise<FinishOutcome> {
    if (result === undefined || result === null) {
      this.#result = 'success'
      return await this.#held.done({ forget: true })
    }
    if ('requeue' in result && result.requeue === true) {
      this.#result = 'requeue'
      return await this.#held.retry()
    }
    if ('requeueAfterMs' in result) {
      const { requeueAfterMs: ms } = result
      if (typeof ms === 'number' && ms <= delayMsMax && ms > -Infinity) {
        this.#result = 'requeue_after'
        return await this.#comeBack(ms)
      }
    }
    return await this.#failed(
      new SluiceTypeError(
        'handler(item)',
        'must return nothing, { requeueAfterMs } or { requeue: true }',
      ),
    )
  }

  async #comeBack(delayMs: number): Promise<FinishOutcome> {
    const { key, itemText: item, priority } = this.#held
    // Asked for before it is given back: a crash in between leaves it asked for.
    await this.#engine.ask({ key, item, priority, delayMs }, true)
    return await this.#held.done({ forget: true })
  }

  async #failed(error: unknown): Promise<FinishOutcome> {
    this.#error = error
    this.#report(error)
    const { onTerminal, maxFailures } = this.#options
    if (error instanceof TerminalError) {
      return onTerminal === 'park'
        ? await this.#held.park(error)
        : await this.#held.done({ forget: true })
    }
    if (maxFailures !== undefined && this.#held.failures + 1 >= maxFailures) {
      return await this.#exhausted(error)
    }
    return await this.#held.retry(error)
  }

  async #exhausted(error: unknown): Promise<FinishOutcome> {
    const { onExhausted } = this.#options
    const end =
      typeof onExhausted === 'function' ? await onExhausted(this.#held, error) : onExhausted
    return end === 'drop' ? await this.#held.done({ forget: true }) : await this.#held.park(error)
  }

  #report(error: unknown): void {
    try {
      this.#options.onError?.(error, this.#held as Held<T>)
    } catch {
      // Whoever is told of errors must not make more of them.
    }
  }
}
