import { checkTickerMs, checkTimerMs } from '../checks/check-timer-ms.ts'
import type { Clock, Ticker, Timer } from './clock.ts'

/** The longest delay the runtime's timers hold; a longer one fires after 1 ms instead. */
const timerMsMax = 2 ** 31 - 1

/** A timer of the runtime. That of a browser keeps no process alive and has neither method. */
type Handle = ReturnType<typeof setTimeout> & Partial<Pick<NodeJS.Timeout, 'ref' | 'unref'>>

class SystemTimer implements Timer {
  readonly #callback: () => void
  #dueAt = 0
  #handle: Handle | undefined
  #isRef = false

  constructor(ms: number, callback: () => void) {
    checkTimerMs(ms)
    this.#callback = callback
    this.#start(ms)
  }

  #start(ms: number): void {
    const delayMs = Math.max(0, ms)
    this.#dueAt = performance.now() + delayMs
    this.#arm(delayMs)
  }

  #arm(ms: number): void {
    // Rounded up, so that a timer never fires before the instant it stands for.
    this.#handle = setTimeout(this.#fire, Math.min(Math.ceil(ms), timerMsMax))
    if (!this.#isRef) this.#handle.unref?.()
  }

  readonly #fire = (): void => {
    // The runtime's own timers round down, and fire up to a millisecond early.
    const leftMs = this.#dueAt - performance.now()
    if (leftMs > 0) {
      this.#arm(leftMs)
      return
    }
    this.#handle = undefined
    this.#callback()
  }

  stop(): boolean {
    if (this.#handle === undefined) return false
    clearTimeout(this.#handle)
    this.#handle = undefined
    return true
  }

  reset(ms: number): boolean {
    checkTimerMs(ms)
    const wasPending = this.stop()
    this.#start(ms)
    return wasPending
  }

  ref(): void {
    this.#isRef = true
    this.#handle?.ref?.()
  }

  unref(): void {
    this.#isRef = false
    this.#handle?.unref?.()
  }
}

class SystemTicker implements Ticker {
  readonly #timer: SystemTimer

  constructor(ms: number, callback: () => void) {
    checkTickerMs(ms)
    this.#timer = new SystemTimer(ms, () => {
      // Armed again before the callback runs, so that the callback can stop it.
      this.#timer.reset(ms)
      callback()
    })
  }

  stop(): boolean {
    return this.#timer.stop()
  }
}

/** The clock of this process: wall time, and timers of the runtime. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  startTimer: (ms, callback) => new SystemTimer(ms, callback),
  startTicker: (ms, callback) => new SystemTicker(ms, callback),
}
