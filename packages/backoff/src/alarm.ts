import type { Clock, Timer } from '@sluice/core'

/** One timer that can be set again and awaited. It keeps the process alive. */
export class Alarm {
  readonly #clock: Clock
  #timer: Timer | undefined
  #hasGoneOff = false
  #wake: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sets it to go off `ms` from now, instead of any earlier setting. */
  set(ms: number): void {
    this.#hasGoneOff = false
    if (this.#timer === undefined) {
      this.#timer = this.#clock.startTimer(ms, this.#onTimer)
      this.#timer.ref()
    } else this.#timer.reset(ms)
  }

  readonly #onTimer = (): void => {
    this.#hasGoneOff = true
    this.#wake()
  }

  /** Resolves when it has gone off since it was set, or when `signal` is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.#hasGoneOff || signal.aborted) return
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
