import { type Awaitable, heartbeatMs, systemClock } from '@sluice/core'
import { isPermanent } from './retryable.ts'

/** How long a store may leave every call unanswered. */
const silentMsMax = heartbeatMs

/** How long a store may be in trouble before that is more than a disturbance. */
const troubleMsMax = 30_000

/**
 * Whether the store answers, as seen in the calls that are made anyway. In real time, which is the
 * time of sockets and disks.
 */
export class StoreHealth {
  #unanswered = 0
  /** Since when no call was answered. */
  #silentSince = 0
  /** Since when every call has failed. */
  #troubleSince: number | undefined
  readonly #onAnswer: () => void

  /** `onAnswer` is called after every call that succeeds. */
  constructor(onAnswer: () => void) {
    this.#onAnswer = onAnswer
  }

  /** Records the outcome of a call, once it is there. */
  record(answer: Awaitable<unknown>): void {
    if (!(answer instanceof Promise)) {
      this.#answered()
      return
    }
    if (this.#unanswered === 0) this.#silentSince = systemClock.monotonicMs()
    this.#unanswered += 1
    answer.then(this.#onAnswered, this.#onFailed)
  }

  readonly #onAnswered = (): void => {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
    this.#answered()
  }

  readonly #onFailed = (error: unknown): void => {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
    this.failed(error)
  }

  #answered(): void {
    this.#troubleSince = undefined
    this.#onAnswer()
  }

  /** Records a call that failed. */
  failed(error: unknown): void {
    if (!isPermanent(error)) this.#troubleSince ??= systemClock.monotonicMs()
  }

  /** Whether the last call failed with a transient error, or no call is answered any more. */
  get isInTrouble(): boolean {
    return this.#troubleSince !== undefined || this.#silentMs > silentMsMax
  }

  /** Whether that has lasted for so long that it will probably not end without help. */
  get isDegraded(): boolean {
    const since = this.#troubleSince
    const troubleMs = since === undefined ? 0 : systemClock.monotonicMs() - since
    return Math.max(troubleMs, this.#silentMs) >= troubleMsMax
  }

  get #silentMs(): number {
    return this.#unanswered === 0 ? 0 : systemClock.monotonicMs() - this.#silentSince
  }
}
