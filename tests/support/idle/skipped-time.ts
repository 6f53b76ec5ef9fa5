import { type Clock, systemClock, type Ticker, type Timer } from '@sluice/core'
import { onTestFinished, vi } from 'vitest'

interface Pending {
  dueAt: number
  fire(): void
}

/**
 * Real time that a test can skip: the timers that drivers start on the clock of the system then fire
 * as if it had passed.
 */
export class SkippedTime {
  readonly #real: Clock = { ...systemClock }
  readonly #pending = new Set<Pending>()
  #skippedMs = 0

  private constructor() {
    const spies = [
      vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => this.#now()),
      vi.spyOn(systemClock, 'startTimer').mockImplementation((ms, fire) => this.#timer(ms, fire)),
      vi.spyOn(systemClock, 'startTicker').mockImplementation((ms, fire) => this.#ticker(ms, fire)),
    ]
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore()
    })
  }

  /** From now on, until the test ends. To be called before a driver is made. */
  static begin(): SkippedTime {
    return new SkippedTime()
  }

  /** Skips this time, and fires every timer that falls due in it, in order; `settle` after each. */
  async skip(ms: number, settle: () => Promise<void>): Promise<void> {
    const target = this.#now() + ms
    for (;;) {
      let next: Pending | undefined
      for (const each of this.#pending) if (each.dueAt < (next?.dueAt ?? target)) next = each
      if (next === undefined) break
      this.#skippedMs += Math.max(0, next.dueAt - this.#now())
      next.fire()
      await settle()
    }
    this.#skippedMs += Math.max(0, target - this.#now())
  }

  #now(): number {
    return this.#real.monotonicMs() + this.#skippedMs
  }

  #timer(ms: number, callback: () => void): Timer {
    const pending: Pending = {
      dueAt: this.#now() + ms,
      fire: () => {
        this.#pending.delete(pending)
        real.stop()
        callback()
      },
    }
    const real = this.#real.startTimer(ms, pending.fire)
    this.#pending.add(pending)
    return {
      stop: () => {
        this.#pending.delete(pending)
        return real.stop()
      },
      reset: (again) => {
        pending.dueAt = this.#now() + again
        this.#pending.add(pending)
        return real.reset(again)
      },
      ref: () => real.ref(),
      unref: () => real.unref(),
    }
  }

  #ticker(ms: number, callback: () => void): Ticker {
    const timer = this.#timer(ms, () => {
      timer.reset(ms)
      callback()
    })
    return timer
  }
}
