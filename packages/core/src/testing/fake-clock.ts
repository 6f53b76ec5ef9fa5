import { checkFunction, checkNumber, checkObject } from '../checks/check.ts'
import { checkTickerMs, checkTimerMs } from '../checks/check-timer-ms.ts'
import type { Clock, EpochMs, Ticker, Timer } from '../time/clock.ts'
import { nextTurn } from '../time/next-turn.ts'

/**
 * A clock that stands still until a test moves it, for tests that must not wait.
 *
 * Two lines of time run through it. The *monotonic* line moves only forward and only by {@link
 * FakeClock.step}; timers and tickers follow it, as on a real machine. The *wall clock*, which
 * {@link Clock.now} reads, moves along with it and can also be set.
 *
 * Nothing ever fires at registration: a timer of 0 ms, or of less, waits for the next step, and
 * `step(0)` is enough.
 */
export interface FakeClock extends Clock {
  /**
   * Moves time forward by `ms` and runs everything that falls due on the way, each at its own
   * instant and in the order of those instants; equal instants go in the order of registration
   * (`reset` registers again, a ticker keeps its position).
   *
   * Before the first timer, and again after each one, pending work continues: promise
   * continuations, and a whole turn of the event loop, so that chains with a `setImmediate` in them
   * progress too. A timer armed by such a reaction fires within the same step if it falls due in
   * it. Reactions that wait for real input or output, such as a query to a server, may take many
   * turns: say what to wait for with {@link FakeClockOptions.settle}.
   *
   * Calls queue up: each starts where the one before it ended, also a call made by a callback. Such
   * a callback may await it too; the step that runs the callback does not wait for that.
   *
   * A callback that throws does not stop the step, which runs to its end and then rejects with that
   * error, or with an `AggregateError` if there were several. Rejects with a typed error, and moves
   * nothing, if `ms` is negative or not a number.
   */
  step(ms: number): Promise<void>
  /**
   * Sets the wall clock, as an operator or a time server does, forward or back.
   *
   * Nothing that has happened is undone. Timers and `monotonicMs` do not notice: what was to fire
   * in 5 s still fires after `step(5_000)`, no sooner and no later. Takes effect at once, also in
   * the middle of a step.
   */
  setTime(ms: EpochMs): void
  /** How many timers and tickers are pending. */
  waiters(): number
  /**
   * Resolves once at least `count` timers and tickers are pending, at once if they are already.
   * Stepping before the code under test has armed its timer moves time past nothing, and the timer
   * then waits for a later step; this is the way to know that it is armed.
   */
  waitForWaiters(count: number): Promise<void>
  /** When, by the wall clock, the next timer or tick is due; `undefined` when none will ever be. */
  nextAt(): EpochMs | undefined
  /** How many pending timers would keep a real process alive: those that are ref'd. */
  refCount(): number
}

/** Options of a fake clock. */
export interface FakeClockOptions {
  /**
   * Awaited before the first and after each timer of a step, in addition to the turn of the event
   * loop. For code that reacts to a timer through real input or output. It must not wait for a
   * step.
   */
  readonly settle?: (() => Promise<void>) | undefined
}

/** 1 January 2025, 00:00 UTC: whole in every unit, and easy to recognise in a failure. */
const epochDefault: EpochMs = 1_735_689_600_000

/** More timers than this, armed and fired without time moving, are a loop without end. */
const firesPerInstantMax = 10_000

interface Waiter {
  dueAt: EpochMs
  /** Breaks ties of `dueAt`; lower goes first. */
  order: number
  isRef: boolean
  readonly fire: () => void
}

class SteppedClock implements FakeClock {
  #wallMs: EpochMs
  #monotonicMs = 0
  /** Where the running step ends, by the wall clock. */
  #targetMs: EpochMs = 0
  /** Sorted by `dueAt`, then by `order`. */
  readonly #pending: Waiter[] = []
  #nextOrder = 0
  #watchers: { readonly count: number; readonly resolve: () => void }[] = []
  /** Resolves when the last of the requested steps has ended; never rejects. */
  #lastStep: Promise<void> = Promise.resolve()
  readonly #settle: (() => Promise<void>) | undefined

  constructor(startMs: EpochMs, settle: (() => Promise<void>) | undefined) {
    this.#wallMs = startMs
    this.#settle = settle
  }

  now(): EpochMs {
    return this.#wallMs
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  startTimer(ms: number, callback: () => void): Timer {
    const dueAfter = (delayMs: number): EpochMs => {
      checkTimerMs(delayMs)
      return this.#wallMs + Math.max(0, delayMs)
    }
    const waiter: Waiter = { dueAt: dueAfter(ms), order: 0, isRef: false, fire: callback }
    this.#register(waiter)
    return {
      stop: () => this.#remove(waiter),
      reset: (delayMs) => {
        const dueAt = dueAfter(delayMs)
        const wasPending = this.#remove(waiter)
        waiter.dueAt = dueAt
        this.#register(waiter)
        return wasPending
      },
      ref: () => {
        waiter.isRef = true
      },
      unref: () => {
        waiter.isRef = false
      },
    }
  }

  startTicker(ms: number, callback: () => void): Ticker {
    checkTickerMs(ms)
    const waiter: Waiter = {
      dueAt: this.#wallMs + ms,
      order: 0,
      isRef: false,
      fire: () => {
        // Pending again before the callback runs, so that the callback can stop it.
        waiter.dueAt += ms
        this.#insert(waiter)
        callback()
      },
    }
    this.#register(waiter)
    return { stop: () => this.#remove(waiter) }
  }

  async step(ms: number): Promise<void> {
    checkNumber('ms', ms, { min: 0 })
    const step = this.#lastStep.then(() => this.#run(ms))
    this.#lastStep = step.catch(() => {})
    await step
  }

  setTime(ms: EpochMs): void {
    checkNumber('ms', ms)
    const before = this.#wallMs
    const onNewClock = (instant: EpochMs): EpochMs => ms + (instant - before)
    this.#wallMs = ms
    this.#targetMs = onNewClock(this.#targetMs)
    for (const waiter of this.#pending) waiter.dueAt = onNewClock(waiter.dueAt)
    // A wall clock of another magnitude rounds fractions differently, which can make two instants
    // one.
    this.#pending.sort((a, b) => a.dueAt - b.dueAt || a.order - b.order)
  }

  waiters(): number {
    return this.#pending.length
  }

  async waitForWaiters(count: number): Promise<void> {
    checkNumber('count', count, { integer: true })
    if (this.#pending.length >= count) return
    await new Promise<void>((resolve) => {
      this.#watchers.push({ count, resolve })
    })
  }

  nextAt(): EpochMs | undefined {
    const next = this.#pending[0]
    return next === undefined || next.dueAt === Infinity ? undefined : next.dueAt
  }

  refCount(): number {
    return this.#pending.filter((waiter) => waiter.isRef).length
  }

  async #run(ms: number): Promise<void> {
    await this.#letReactionsRun()
    this.#targetMs = this.#wallMs + ms
    const errors: unknown[] = []
    let firesLeft = this.#pending.length + firesPerInstantMax
    for (;;) {
      const next = this.#pending[0]
      if (next === undefined || next.dueAt > this.#targetMs) break
      if (next.dueAt > this.#wallMs) {
        this.#moveTo(next.dueAt)
        firesLeft = this.#pending.length + firesPerInstantMax
      }
      if (firesLeft === 0) throw new Error(`timers keep firing at ${this.#wallMs} without end`)
      firesLeft -= 1
      this.#pending.shift()
      try {
        next.fire()
      } catch (error) {
        errors.push(error)
      }
      await this.#letReactionsRun()
    }
    this.#moveTo(this.#targetMs)
    if (errors.length > 1) throw new AggregateError(errors, 'several timers threw')
    if (errors.length === 1) throw errors[0]
  }

  #moveTo(instant: EpochMs): void {
    this.#monotonicMs += instant - this.#wallMs
    this.#wallMs = instant
  }

  async #letReactionsRun(): Promise<void> {
    // Two turns: what a continuation puts off by one turn is queued behind the first of ours.
    await new Promise<void>((resolve) => {
      nextTurn(() => nextTurn(resolve))
    })
    await this.#settle?.()
  }

  #register(waiter: Waiter): void {
    waiter.order = this.#nextOrder
    this.#nextOrder += 1
    this.#insert(waiter)
    const count = this.#pending.length
    for (const watcher of this.#watchers) {
      if (count >= watcher.count) watcher.resolve()
    }
    this.#watchers = this.#watchers.filter((watcher) => count < watcher.count)
  }

  #insert(waiter: Waiter): void {
    this.#pending.splice(this.#positionOf(waiter), 0, waiter)
  }

  #remove(waiter: Waiter): boolean {
    const position = this.#positionOf(waiter)
    if (this.#pending[position] !== waiter) return false
    this.#pending.splice(position, 1)
    return true
  }

  /** The position of `waiter` in the order of firing, whether it is there or not. */
  #positionOf(waiter: Waiter): number {
    let low = 0
    let high = this.#pending.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#pending[middle]!
      const isBefore =
        other.dueAt < waiter.dueAt || (other.dueAt === waiter.dueAt && other.order < waiter.order)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Makes a {@link FakeClock} that starts at `startMs`, by default the first instant of 2025. */
export function fakeClock(
  startMs: EpochMs = epochDefault,
  options: FakeClockOptions = {},
): FakeClock {
  checkNumber('startMs', startMs)
  const { settle } = checkObject('options', options, ['settle'])
  if (settle !== undefined) checkFunction('settle', settle)
  return new SteppedClock(startMs, settle)
}
