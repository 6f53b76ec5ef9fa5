import {
  type BucketRate,
  type BucketReservation,
  type BucketState,
  type Clock,
  checkNumber,
  checkObject,
  checkSignal,
  type EpochMs,
  msForTokens,
  reserveTokens,
  SluiceError,
  SluiceRangeError,
  systemClock,
  tokensAt,
  tokensDuring,
} from '@sluice/core'
import { checkRatePerSecond, checkRateTokens } from './check-rate.ts'

/** Options of a {@link TokenBucket}. */
export interface TokenBucketOptions {
  /**
   * Tokens added per second. `Infinity`: every call is allowed at once. 0: the bucket never fills.
   */
  readonly perSecond: number
  /** The capacity, and the most tokens that one call can take. The bucket starts full. */
  readonly burst: number
  /** The default time of each method. */
  readonly clock?: Clock | undefined
}

/** A reservation of tokens, available now or in the future. */
export interface Reservation {
  /** Whether the tokens were reserved. If not, nothing was taken and `cancel` does nothing. */
  readonly ok: boolean
  /**
   * How long to wait, from `at`, until the tokens may be used: 0 if they are available, `Infinity`
   * if they never will be, or were not reserved.
   */
  delayMs(at?: EpochMs): number
  /**
   * Returns tokens at `at`: not those that later reservations were made on top of, and none at all
   * once the time of this reservation has passed. A reservation that could be used at once has
   * passed a moment later, so cancel it with the instant it was made at. Call it once: as in the
   * original, each call returns tokens again.
   */
  cancel(at?: EpochMs): void
}

/** Options of {@link TokenBucket.wait}. */
export interface WaitOptions {
  /** Ends the wait with the signal's reason, and returns the tokens. */
  readonly signal?: AbortSignal | undefined
  /** An instant, in epoch milliseconds: a wait that would be longer is rejected at once. */
  readonly deadlineMs?: EpochMs | undefined
}

/**
 * An instant and an offset from it, kept separately: epoch milliseconds are too coarse for the
 * nanoseconds of a delay, and the difference of two such instants needs them.
 */
interface Moment {
  readonly at: EpochMs
  readonly plusMs: number
}

function msBetween(from: Moment, to: Moment): number {
  return from.plusMs === to.plusMs ? to.at - from.at : to.at - from.at + (to.plusMs - from.plusMs)
}

function isBefore(moment: Moment, at: EpochMs): boolean {
  return at - moment.at > moment.plusMs
}

const waitOptions = ['signal', 'deadlineMs']

/** Half a nanosecond: two instants closer than that are equal. */
const sameMs = 0.5e-6

/**
 * A bucket that fills with `perSecond` tokens up to `burst`, from which callers take tokens: if
 * some are available (`allow`), after waiting for them (`wait`), or in advance (`reserve`).
 *
 * The bucket has no timer: each call computes the refill since the last one. Tokens can be reserved
 * in advance, so their number may be below zero.
 *
 * Every method takes its instant, `at`, in epoch milliseconds. The default is the clock's time when the
 * bucket was made plus its monotonic time since, as in the original: a wall clock that is set changes nothing.
 * Instants may go backwards: that neither adds nor removes tokens.
 */
export class TokenBucket {
  #rate: BucketRate
  #state: BucketState | undefined
  /** When the latest reservation may be used. */
  #lastEvent: Moment = { at: -Infinity, plusMs: 0 }
  readonly #clock: Clock
  /** The clock's time less its monotonic time when the bucket was made. */
  readonly #offsetMs: number

  constructor(options: TokenBucketOptions) {
    checkObject('options', options, ['perSecond', 'burst', 'clock'])
    this.#rate = {
      perSecond: checkRatePerSecond('perSecond', options.perSecond),
      burst: checkRateTokens('burst', options.burst),
    }
    this.#clock = checkObject('clock', options.clock ?? systemClock)
    this.#offsetMs = this.#clock.now() - this.#clock.monotonicMs()
  }

  /** Tokens added per second. */
  get limit(): number {
    return this.#rate.perSecond
  }

  /** The capacity of the bucket. */
  get burst(): number {
    return this.#rate.burst
  }

  /** How many tokens are available; below zero when future tokens are reserved. */
  tokens(at?: EpochMs): number {
    return tokensAt(this.#state, this.#rate, this.#instant(at))
  }

  /**
   * Takes `n` tokens if they are available, and returns whether they were. Otherwise nothing
   * changes.
   */
  allow(n: number = 1, at?: EpochMs): boolean {
    return this.#take(checkRateTokens('n', n), this.#instant(at), 0).ok
  }

  /**
   * Takes `n` tokens, now or in advance, and returns how long to wait for them. Not `ok`, with
   * nothing taken, if `n` is more than the bucket can hold.
   */
  reserve(n: number = 1, at?: EpochMs): Reservation {
    return this.#reserve(checkRateTokens('n', n), this.#instant(at), Infinity)
  }

  /**
   * Resolves when `n` tokens may be used.
   *
   * Rejects without taking any if they are more than the bucket can hold (a typed error), if the
   * signal is aborted already (with its reason), or if they would be available only after the
   * deadline (`ERR_TIMEOUT`). When the signal aborts the wait, the tokens are returned. A wait
   * keeps the process alive.
   */
  async wait(n: number = 1, options: WaitOptions = {}): Promise<void> {
    checkRateTokens('n', n)
    const { signal, deadlineMs = Infinity } = checkObject('options', options, waitOptions)
    if (signal !== undefined) checkSignal('signal', signal)
    if (deadlineMs !== Infinity) checkNumber('deadlineMs', deadlineMs)
    const { perSecond, burst } = this.#rate
    if (n > burst && perSecond !== Infinity) {
      throw new SluiceRangeError('n', `must not be above the bucket's burst of ${burst}; got ${n}`)
    }
    signal?.throwIfAborted()
    const now = this.#instant(undefined)
    const maxWaitMs = deadlineMs - this.#clock.now()
    const reservation = maxWaitMs > 0 ? this.#reserve(n, now, maxWaitMs) : undefined
    if (reservation?.ok !== true) {
      const message = `${n} tokens would come after the deadline; nothing was taken`
      throw new SluiceError('ERR_TIMEOUT', message, { retryable: true })
    }
    const delayMs = reservation.delayMs(now)
    if (delayMs === 0) return
    try {
      await this.#elapse(delayMs, signal)
    } catch (error) {
      reservation.cancel()
      throw error
    }
  }

  /** Changes the rate from `at` on. Earlier reservations keep their times. */
  setLimit(perSecond: number, at?: EpochMs): void {
    checkRatePerSecond('perSecond', perSecond)
    this.#advance(this.#instant(at))
    this.#rate = { ...this.#rate, perSecond }
  }

  /** Changes the capacity from `at` on. Tokens beyond it are lost. */
  setBurst(n: number, at?: EpochMs): void {
    checkRateTokens('n', n)
    this.#advance(this.#instant(at))
    this.#rate = { ...this.#rate, burst: n }
  }

  #instant(at: EpochMs | undefined): EpochMs {
    if (at === undefined) return this.#clock.monotonicMs() + this.#offsetMs
    return checkNumber('at', at)
  }

  #advance(at: EpochMs): void {
    this.#state = { tokens: tokensAt(this.#state, this.#rate, at), lastMs: at }
  }

  #take(n: number, at: EpochMs, maxWaitMs: number): BucketReservation {
    const taken = reserveTokens(this.#state, this.#rate, at, n, maxWaitMs)
    if (taken.state !== this.#state) this.#lastEvent = { at, plusMs: taken.delayMs }
    this.#state = taken.state
    return taken
  }

  #reserve(n: number, at: EpochMs, maxWaitMs: number): Reservation {
    const { ok, delayMs } = this.#take(n, at, maxWaitMs)
    const due: Moment = { at, plusMs: delayMs }
    // An infinite bucket keeps no account, so no later reservation can exist.
    const perSecond = this.#rate.perSecond === Infinity ? 0 : this.#rate.perSecond
    return {
      ok,
      delayMs: (from) => Math.max(0, delayMs - (this.#instant(from) - at)),
      cancel: (from) => {
        const now = this.#instant(from)
        if (ok && n > 0 && !isBefore(due, now)) this.#giveBack(n, due, perSecond, now)
      },
    }
  }

  #giveBack(n: number, due: Moment, perSecond: number, at: EpochMs): void {
    if (this.#rate.perSecond === Infinity) return
    const sinceMs = msBetween(due, this.#lastEvent)
    const restored = n - tokensDuring(sinceMs, perSecond)
    if (!(restored > 0)) return
    this.#advance(at)
    const { tokens, lastMs } = this.#state!
    this.#state = { tokens: Math.min(this.#rate.burst, tokens + restored), lastMs }
    if (Math.abs(sinceMs) >= sameMs) return
    // This was the latest reservation: the one before it is the latest again.
    const backMs = msForTokens(n, perSecond)
    // A reservation that would never be due goes back to the instant at which it was made.
    const plusMs = due.plusMs === backMs ? 0 : due.plusMs - backMs
    const before: Moment = { at: due.at, plusMs }
    if (!isBefore(before, at)) this.#lastEvent = before
  }

  #elapse(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        timer.stop()
        reject(signal?.reason)
      }
      const timer = this.#clock.startTimer(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      timer.ref()
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }
}
