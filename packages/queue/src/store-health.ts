import { type Awaitable, heartbeatMs, systemClock } from '@sluice/core'
import { isTrouble } from './trouble.ts'

/** How long a store may leave every call unanswered. */
const silentMsMax = heartbeatMs

/**
 * Whether the store answers, told from the calls that are made anyway: in real time, since that is
 * what sockets and disks take.
 */
export class StoreHealth {
  #unanswered = 0
  /** Since when nothing was answered that was asked. */
  #silentSince = 0
  #isInTrouble = false

  /** Makes a call and takes note of what becomes of it. */
  watch<R>(send: () => Awaitable<R>): Awaitable<R> {
    let answer: Awaitable<R>
    try {
      answer = send()
    } catch (error) {
      this.#failed(error)
      throw error
    }
    if (answer instanceof Promise) {
      if (this.#unanswered === 0) this.#silentSince = systemClock.monotonicMs()
      this.#unanswered += 1
      answer.then(this.#landed, this.#crashed)
    } else this.#isInTrouble = false
    return answer
  }

  readonly #landed = (): void => {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
    this.#isInTrouble = false
  }

  readonly #crashed = (error: unknown): void => {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
    this.#failed(error)
  }

  #failed(error: unknown): void {
    if (isTrouble(error)) this.#isInTrouble = true
  }

  /** Whether the last call failed for a reason that may pass, or nothing is answered any more. */
  get isInTrouble(): boolean {
    if (this.#isInTrouble) return true
    return this.#unanswered > 0 && systemClock.monotonicMs() - this.#silentSince > silentMsMax
  }
}
