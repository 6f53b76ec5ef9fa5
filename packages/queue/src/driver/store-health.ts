import { type Awaitable, heartbeatMs, systemClock, type TracedVerb } from '@sluice/core'
import { isPermanent } from './retryable.ts'

/** How long a store may leave every call unanswered. */
const silentMsMax = heartbeatMs

/** How long a store may be in trouble before that is more than a disturbance. */
const troubleMsMax = 30_000

type Verb = TracedVerb | 'open'

/** A claim or a finish that fails, without which workers get nowhere. */
interface Failing {
  readonly verb: Verb
  readonly since: number
  lastAt: number
  /** Whether another call was answered since. */
  isPassed: boolean
  /** Whether it has failed again after that. */
  isStuck: boolean
}

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
  #failing: Failing | undefined
  readonly #onAnswer: () => void

  /** `onAnswer` is called after every call that succeeds. */
  constructor(onAnswer: () => void) {
    this.#onAnswer = onAnswer
  }

  /** Records the outcome of a call, once it is there. */
  record(verb: Verb, answer: Awaitable<unknown>): void {
    if (!(answer instanceof Promise)) {
      this.#answered(verb)
      return
    }
    if (this.#unanswered === 0) this.#silentSince = systemClock.monotonicMs()
    this.#unanswered += 1
    answer.then(
      () => {
        this.#settled()
        this.#answered(verb)
      },
      (error: unknown) => {
        this.#settled()
        this.failed(verb, error)
      },
    )
  }

  #settled(): void {
    this.#unanswered -= 1
    if (this.#unanswered > 0) this.#silentSince = systemClock.monotonicMs()
  }

  #answered(verb: Verb): void {
    this.#troubleSince = undefined
    if (this.#failing?.verb === verb) this.#failing = undefined
    else if (this.#failing !== undefined) this.#failing.isPassed = true
    this.#onAnswer()
  }

  /** Records a call that failed. */
  failed(verb: Verb, error: unknown): void {
    if (isPermanent(error)) return
    const now = systemClock.monotonicMs()
    this.#troubleSince ??= now
    if (verb !== 'claim' && verb !== 'finish') return
    const failing = this.#failing
    if (failing?.verb === verb) {
      failing.lastAt = now
      failing.isStuck ||= failing.isPassed
    } else if (!failing?.isStuck) {
      this.#failing = { verb, since: now, lastAt: now, isPassed: false, isStuck: false }
    }
  }

  get #since(): number | undefined {
    const failing = this.#failing
    const isStuck =
      failing?.isStuck === true && systemClock.monotonicMs() - failing.lastAt < troubleMsMax
    return isStuck ? failing.since : this.#troubleSince
  }

  /**
   * Whether the last call failed with a transient error, or claims or finishes fail again and again while
   * other calls succeed, or no call is answered any more.
   */
  get isInTrouble(): boolean {
    return this.#since !== undefined || this.#silentMs > silentMsMax
  }

  /** Whether that has lasted for so long that it will probably not end without help. */
  get isDegraded(): boolean {
    const since = this.#since
    const troubleMs = since === undefined ? 0 : systemClock.monotonicMs() - since
    return Math.max(troubleMs, this.#silentMs) >= troubleMsMax
  }

  get #silentMs(): number {
    return this.#unanswered === 0 ? 0 : systemClock.monotonicMs() - this.#silentSince
  }
}
