import { type Awaitable, isPromise, systemClock, type Timer } from '@sluice/core'
import { isPermanent, retryDelayMs } from './retryable.ts'

/** How long the pause after a failure lasts at first, and how long at most. */
const pauseDelay = { first: 500, longest: 1_500 }

/**
 * The least time between attempts after a failure: at most two a second, also if a pause ends
 * early.
 */
const failureMs = 500

/** How long an attempt may stay without an answer before another one is made. */
const silentMsMax = 1_500

/** A failure that comes so long after the last one is the first of another outage. */
const calmMs = 10_000

/** A queue object, as its attempts know it. */
export interface GateUser {
  /** The error of an attempt that waits when its queue object is closed. */
  closedError(): Error
}

interface Waiting {
  readonly user: GateUser
  readonly isRef: boolean
  readonly go: () => void
  readonly end: () => void
}

/**
 * Spaces the attempts that this library makes automatically, such as claims, ticks, renewals and
 * repetitions, while a store is in trouble. One for each store and process, so that the number of
 * queue objects, workers and waiters does not matter.
 *
 * Attempts are made at once while they succeed. After a failure they line up: one at a time is
 * made, with a pause after each attempt that fails, which grows to 1.5 s and begins with the
 * attempt, so that one that was silent for longer is repeated at once. When one succeeds the line
 * moves on, twice as many at a time after each success. The first attempt of a call of the user is
 * made without asking here. In real time, since that is what stores and networks take.
 */
export class RetryGate {
  #isClosed = false
  /** Attempts in a row that have failed. */
  #failures = 0
  #failedAt = -Infinity
  /** When the last attempt was made, and when any call was answered last. */
  #sentAt = -Infinity
  #answeredAt = -Infinity
  /** The pause that is under way does not end before. */
  #pauseEndMin = 0
  /** How many attempts the next success lets go. */
  #width = 1
  #line: Waiting[] = []
  /** While it runs nothing goes: the pause after a failure, or the wait for an answer. */
  #timer: Timer | undefined
  #isPausing = false

  /** Whether attempts have to wait in line. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /**
   * Makes an attempt when it is its turn: at once unless the store is in trouble. `isRef`: whether
   * waiting for the turn keeps the process alive.
   */
  attempt<R>(user: GateUser, send: () => Awaitable<R>, isRef = true): Awaitable<R> {
    const turn = this.turn(user, isRef)
    return turn === undefined ? this.watch(send) : turn.then(() => this.watch(send))
  }

  /**
   * The turn of an attempt; `undefined` if it is now. The attempt must then be made through
   * {@link watch}, or the turn passed on if it is not needed any more.
   */
  turn(user: GateUser, isRef = true): Promise<void> | undefined {
    if (!this.#isClosed) return undefined
    if (this.#timer !== undefined || this.#line.length > 0) return this.#wait(user, isRef)
    this.#awaitAnswer()
    return undefined
  }

  #wait(user: GateUser, isRef: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#line.push({ user, isRef, go: resolve, end: () => reject(user.closedError()) })
      if (isRef) this.#timer?.ref()
    })
  }

  /** Gives on a turn that has come but is not used. */
  readonly pass = (): void => {
    if (!this.#isClosed || this.#isPausing) return
    this.#stopTimer()
    this.#goOn()
  }

  /** Makes an attempt whose turn it is, and records its outcome. */
  watch<R>(send: () => Awaitable<R>): Awaitable<R> {
    const sentAt = systemClock.monotonicMs()
    this.#sentAt = sentAt
    let answer: Awaitable<R>
    try {
      answer = send()
    } catch (error) {
      this.failed(error, sentAt)
      throw error
    }
    if (!isPromise(answer)) {
      if (this.#isClosed) this.#succeeded()
      return answer
    }
    answer.then(this.#onSuccess, (error: unknown) => this.failed(error, sentAt))
    return answer
  }

  readonly #onSuccess = (): void => {
    if (this.#isClosed) this.#succeeded()
  }

  /** An attempt has failed that was made at `sentAt`. */
  failed(error: unknown, sentAt: number = systemClock.monotonicMs()): void {
    if (isPermanent(error)) return
    const now = systemClock.monotonicMs()
    if (this.#isClosed && this.#isPausing) {
      // Attempts that were in flight together fail together: one outage, but several failures.
      this.#pauseEndMin = Math.min(this.#pauseEndMin + failureMs, now + pauseDelay.longest)
      return
    }
    this.#failures = now - this.#failedAt > calmMs ? 1 : this.#failures + 1
    this.#failedAt = now
    const lastAt = Math.max(this.#sentAt, sentAt)
    this.#pauseEndMin = lastAt + failureMs
    this.#isClosed = true
    this.#width = 1
    // It was in flight for long, and the answer to a later call is more recent.
    const isOld = this.#answeredAt > sentAt && now - sentAt >= pauseDelay.longest
    const pauseMs = isOld ? failureMs : retryDelayMs(this.#failures, pauseDelay)
    this.#pause(Math.max(0, lastAt + pauseMs - now))
  }

  #succeeded(): void {
    // Some of the attempts in flight have failed: perhaps only some of them can succeed.
    if (this.#isPausing) {
      this.answered()
      return
    }
    this.#stopTimer()
    this.#width *= 2
    this.#letGo(this.#width)
    if (this.#line.length === 0) {
      this.#isClosed = false
      this.#width = 1
    } else this.#awaitAnswer()
  }

  /** Any call was answered, so that the store is probably up again: the pause is shortened. */
  answered(): void {
    this.#answeredAt = systemClock.monotonicMs()
    if (!this.#isClosed || this.#timer === undefined) return
    if (this.#isPausing) this.#pause(Math.max(0, this.#pauseEndMin - this.#answeredAt))
    else this.#startTimer(Math.max(0, this.#sentAt + failureMs - this.#answeredAt))
  }

  /** Ends the attempts of a queue object that wait. */
  leave(user: GateUser): void {
    const left = this.#line.filter((waiting) => waiting.user === user)
    if (left.length === 0) return
    this.#line = this.#line.filter((waiting) => waiting.user !== user)
    // The rest of the pause must not keep a process alive that has nothing to wait for.
    if (!this.#line.some(({ isRef }) => isRef)) this.#timer?.unref()
    for (const { end } of left) end()
  }

  #pause(ms: number): void {
    this.#startTimer(ms)
    this.#isPausing = true
  }

  #awaitAnswer(): void {
    this.#startTimer(silentMsMax)
  }

  #startTimer(ms: number): void {
    this.#stopTimer()
    this.#timer = systemClock.startTimer(ms, () => {
      this.#timer = undefined
      this.#isPausing = false
      this.#goOn()
    })
    if (this.#line.some(({ isRef }) => isRef)) this.#timer.ref()
  }

  #stopTimer(): void {
    this.#timer?.stop()
    this.#timer = undefined
    this.#isPausing = false
  }

  /** Lets the next in line have its turn. */
  #goOn(): void {
    if (this.#line.length === 0) return
    this.#awaitAnswer()
    this.#letGo(1)
  }

  #letGo(count: number): void {
    for (const { go } of this.#line.splice(0, count)) go()
  }
}
