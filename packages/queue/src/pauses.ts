import { systemClock, type Timer } from '@sluice/core'

/** Waits in real time, which all end when they are stopped. */
export class Pauses {
  readonly #ref: boolean
  /** Waits under way, and how to end them. */
  readonly #waits = new Map<Timer, () => void>()

  /** `ref`: whether a wait keeps the process alive. */
  constructor(ref: boolean) {
    this.#ref = ref
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = systemClock.startTimer(ms, () => {
        this.#waits.delete(timer)
        resolve()
      })
      if (this.#ref) timer.ref()
      this.#waits.set(timer, resolve)
    })
  }

  stop(): void {
    for (const [timer, resolve] of this.#waits) {
      timer.stop()
      resolve()
    }
    this.#waits.clear()
  }
}
