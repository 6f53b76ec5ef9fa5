import type { Timer } from '@sluice/core'
import { type Awaitable, SluiceError } from '@sluice/core/driver'
import type { SqliteEnvironment } from './environment.ts'

/** The longest pause between two attempts, in milliseconds. */
const pauseMsMax = 100

/** How long attempts may follow one another before other work gets a turn, in milliseconds. */
const turnMsMax = 20

interface Waiting {
  readonly attempt: () => unknown
  readonly deadline: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * Waits for a file that another process has locked, without blocking this one.
 *
 * SQLite's own wait blocks the whole process, so it is short; an operation that is still busy after
 * it is attempted again, after a pause, until its deadline. While one operation waits, later ones
 * queue behind it instead of each waiting for the same lock.
 */
export class BusyRetry {
  readonly #environment: SqliteEnvironment
  readonly #waitMs: number
  #line: Waiting[] = []
  #timer: Timer | undefined
  #pauses = 0

  constructor(environment: SqliteEnvironment, waitMs: number) {
    this.#environment = environment
    this.#waitMs = waitMs
  }

  /**
   * Repeats `attempt` while it is busy. Synchronous if the first one is not. `overtakes`: does not
   * queue behind others, for operations that usually need no lock.
   */
  run<T>(attempt: () => T, overtakes = false): Awaitable<T> {
    if (this.#line.length > 0 && !overtakes) return this.#enqueue(attempt)
    try {
      return attempt()
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_STORE_BUSY')) return Promise.reject(error)
      return this.#enqueue(attempt)
    }
  }

  /** Rejects every waiting operation. */
  giveUp(error: SluiceError): void {
    const line = this.#line
    this.#line = []
    this.#timer?.stop()
    for (const waiting of line) waiting.reject(error)
  }

  #enqueue<T>(attempt: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#environment.clock.monotonicMs() + this.#waitMs
      this.#line.push({ attempt, deadline, resolve: resolve as (value: unknown) => void, reject })
      if (this.#line.length === 1) this.#pause()
    })
  }

  #pause(): void {
    // From a few milliseconds on, twice as long each time, and randomized against other processes.
    const longest = Math.min(pauseMsMax, 4 * 2 ** this.#pauses)
    this.#pauses += 1
    const { clock, random } = this.#environment
    this.#timer = clock.startTimer(longest * (0.5 + random() / 2), () => this.#goOn())
    // A caller awaits the operation.
    this.#timer.ref()
  }

  #goOn(): void {
    const { clock } = this.#environment
    const startedAt = clock.monotonicMs()
    for (;;) {
      const [first] = this.#line
      if (first === undefined) return
      try {
        const value = first.attempt()
        this.#line.shift()
        this.#pauses = 0
        first.resolve(value)
      } catch (error) {
        if (SluiceError.is(error, 'ERR_STORE_BUSY')) {
          this.#rejectLate(error)
          if (this.#line.length > 0) this.#pause()
          return
        }
        this.#line.shift()
        first.reject(error)
      }
      if (this.#line.length > 0 && clock.monotonicMs() - startedAt > turnMsMax) {
        this.#pause()
        return
      }
    }
  }

  #rejectLate(error: SluiceError): void {
    const now = this.#environment.clock.monotonicMs()
    const late = this.#line.filter(({ deadline }) => deadline <= now)
    if (late.length === 0) return
    this.#line = this.#line.filter(({ deadline }) => deadline > now)
    for (const waiting of late) waiting.reject(error)
  }
}
