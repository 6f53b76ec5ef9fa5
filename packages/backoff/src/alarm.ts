import type { Clock, Timer } from '@sluice/core'

/** One timer that is set again and again, and can be waited for. It keeps the process alive. */
export class Alarm {
  readonly #clock: Clock
  #timer: Timer | undefined
  #hasRung = false
  #wake: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Lets it ring `ms` from now, and forgets what was set before. */
  set(ms: number): void {
    this.#hasRung = false
    if (this.#timer === undefined) {
      this.#timer = this.#clock.startTimer(ms, this.#ring)
      this.#timer.ref()
    } else this.#timer.reset(ms)
  }

  readonly #ring = (): void => {
    this.#hasRung = true
    this.#wake()
  }

  /** Resolves when it has rung since it was set, or when `signal` is aborted. */
  async rung(signal: AbortSignal): Promise<void> {
    if (this.#hasRung || signal.aborted) return
    await new Promise<void>((resolve) => {
      this.#wake = () => {
        signal.removeEventListener('abort', this.#wake)
        resolve()
      }
      signal.addEventListener('abort', this.#wake)
    })
  }

  stop(): void {
    this.#timer?.stop()
  }
}
