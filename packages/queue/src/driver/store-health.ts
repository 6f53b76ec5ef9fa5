import { type Awaitable, heartbeatMs, isPromise, systemClock, type TracedVerb } from '@sluice/core'
import { isPermanent } from './retryable.ts'

/** How long a store may leave every call unanswered. */
const silentMsMax = heartbeatMs

/** How long a store may be in trouble before that is more than a disturbance. */
const troubleMsMax = 30_000

type Verb = TracedVerb | 'open'

/** Claims or finishes that fail, without which workers get nowhere. */
interface Failing {
  readonly since: number
  lastAt: number
  /** Whether another call was answered since. */
  isPassed?: boolean
  /** Whether one has failed again after that. */
  isStuck?: boolean | undefined
}

/**
 * Whether the store answers, as seen in the calls that are made anyway. In real time, which is the
 * time of sockets and disks.
 */
export class StoreHealth {
  #unanswered = 0
  /** Since when no call was answered; `Infinity` if none waits for its answer. */
  #silentSince = Infinity
  /** Since when every call has failed; `Infinity` if the last one was answered. */
  #troubleSince = Infinity
  readonly #failing = new Map<Verb, Failing>()
  readonly #onAnswer: () => void

  /** `onAnswer` is called after every call that succeeds. */
  constructor(onAnswer: () => void) {
    this.#onAnswer = onAnswer
  }

  /** Records the outcome of a call, once it is there. */
  record(verb: Verb, answer: Awaitable<unknown>): void {
    if (!isPromise(answer)) {
      this.#answered(verb)
      return
    }
    if (this.#unanswered === 0) this.#silentSince = systemClock.monotonicMs()
    this.#unanswered += 1
    answer.then(
      () => {
        this.#ended()
        this.#answered(verb)
      },
      (error: unknown) => {
        this.#ended()
        this.failed(verb, error)
      },
    )
  }

  #ended(): void {
    this.#unanswered -= 1
    this.#silentSince = this.#unanswered > 0 ? systemClock.monotonicMs() : Infinity
  }

  #answered(verb: Verb): void {
    this.#troubleSince = Infinity
    if (this.#failing.size > 0) {
      this.#failing.delete(verb)
      for (const failing of this.#failing.values()) failing.isPassed = true
    }
    this.#onAnswer()
  }

  /** Records a call that failed. */
  failed(verb: Verb, error: unknown): void {
    if (isPermanent(error)) return
    const now = systemClock.monotonicMs()
    this.#troubleSince = Math.min(this.#troubleSince, now)
    if (verb !== 'claim' && verb !== 'finish') return
    const failing = this.#failing.get(verb)
    if (failing !== undefined && now - failing.lastAt < troubleMsMax) {
      failing.lastAt = now
      failing.isStuck ||= failing.isPassed
    } else this.#failing.set(verb, { since: now, lastAt: now })
  }

  get #since(): number {
    let since = this.#troubleSince
    for (const failing of this.#failing.values()) {
      const isRecent = systemClock.monotonicMs() - failing.lastAt < troubleMsMax
      if (failing.isStuck && isRecent) since = Math.min(since, failing.since)
    }
    return since
  }

  /**
   * Whether the last call failed with a transient error, or claims or finishes fail again and again while
   * other calls succeed, or no call is answered any more.
   */
  get isInTrouble(): boolean {
    const silentMs = systemClock.monotonicMs() - this.#silentSince
    return this.#since < Infinity || silentMs > silentMsMax
  }

  /** Whether that has lasted for so long that it will probably not end without help. */
  get isDegraded(): boolean {
    const since = Math.min(this.#since, this.#silentSince)
    return systemClock.monotonicMs() - since >= troubleMsMax
  }
}
