import { type Awaitable, heartbeatMs, systemClock } from '@sluice/core'
import { isPermanent } from './retryable.ts'

/** How long a store may leave every call unanswered. */
const silentMsMax = heartbeatMs

/** How long a store may be in trouble before that is more than a disturbance. */
const troubleMsMax = 30_000

/**
 * Whether the store answers, told from the calls that are made anyway: in real time, since that is
 * what sockets and disks take.
 */
export class StoreHealth {
  #unanswered = 0
  /** Since when nothing was answered that was asked. */
  #silentSince = 0
  /** Since when every call has failed. */
  #troubleSince: number | undefined
  readonly #onAnswer: () => void

  /** `onAnswer` is told of every call that succeeds. */
  constructor(onAnswer: () => void) {
    this.#onAnswer = onAnswer
  }

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
    } else this.#answered()
    return answer
  }

  readonly #landed = (): void => {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
    this.#answered()
  }

  readonly #crashed = (error: unknown): void => {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
    this.#failed(error)
  }

  #answered(): void {
    this.#troubleSince = undefined
    this.#onAnswer()
  }

  #failed(error: unknown): void {
    if (!isPermanent(error)) this.#troubleSince ??= systemClock.monotonicMs()
  }

  /** Whether the last call failed for a reason that may pass, or nothing is answered any more. */
  get isInTrouble(): boolean {
    return this.#troubleSince !== undefined || this.#silentMs > silentMsMax
  }

  /** Whether that has lasted for so long that it will probably not pass without help. */
  get isDegraded(): boolean {
    const since = this.#troubleSince
    const troubleMs = since === undefined ? 0 : systemClock.monotonicMs() - since
    return Math.max(troubleMs, this.#silentMs) >= troubleMsMax
  }

  get #silentMs(): number {
    return this.#unanswered === 0 ? 0 : systemClock.monotonicMs() - this.#silentSince
  }
}
