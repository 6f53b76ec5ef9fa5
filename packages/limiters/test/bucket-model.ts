/**
 * A second token bucket, written from the rules of golang.org/x/time/rate and from nothing else, with
 * which the real one is compared. Instants and durations are whole nanoseconds, tokens and rates are
 * exact fractions: nothing here is ever rounded, except where a rule says that a wait is cut down to
 * whole nanoseconds. It is meant to be read next to the rules, not to be fast.
 */

/** A fraction in lowest terms; the denominator is positive. */
export interface Fraction {
  readonly num: bigint
  readonly den: bigint
}

export function fraction(num: bigint, den = 1n): Fraction {
  if (den === 0n) throw new RangeError('a fraction needs a denominator')
  let a = num < 0n ? -num : num
  let b = den < 0n ? -den : den
  while (b !== 0n) [a, b] = [b, a % b]
  const divisor = den < 0n ? -a : a
  return { num: num / divisor, den: den / divisor }
}

const plus = (a: Fraction, b: Fraction): Fraction =>
  fraction(a.num * b.den + b.num * a.den, a.den * b.den)

const minus = (a: Fraction, b: Fraction): Fraction => plus(a, { num: -b.num, den: b.den })

const times = (a: Fraction, b: Fraction): Fraction => fraction(a.num * b.num, a.den * b.den)

const over = (a: Fraction, b: Fraction): Fraction => times(a, fraction(b.den, b.num))

const sign = (a: Fraction): number => (a.num > 0n ? 1 : a.num < 0n ? -1 : 0)

const smaller = (a: Fraction, b: Fraction): Fraction => (sign(minus(a, b)) < 0 ? a : b)

/** The whole part; what follows the point is dropped, towards zero. */
const whole = (a: Fraction): bigint => a.num / a.den

/** The nearest number, good to 18 places after the point. */
export function toNumber(a: Fraction): number {
  return Number(whole(a)) + Number(((a.num % a.den) * 10n ** 18n) / a.den) / 1e18
}

/** Tokens per second, or no limit at all. */
export type Rate = Fraction | 'unlimited'

/** The longest duration there is, standing for "never". */
export const NEVER = 2n ** 63n - 1n

const ZERO = fraction(0n)
const ONE = fraction(1n)
const NS_PER_SECOND = fraction(1_000_000_000n)

export interface ModelReservation {
  readonly ok: boolean
  readonly n: bigint
  /** When the holder may act, in nanoseconds. */
  readonly timeToAct: bigint
  /** The limit when the reservation was made. */
  readonly limit: Rate
  /** The wait in nanoseconds before it was cut; below zero when tokens were left over. */
  readonly rawWait: Fraction
  /** The wait was `NEVER`. */
  readonly never: boolean
}

/**
 * The yes-or-no questions a bucket decides by comparing two computed amounts. A machine that
 * rounds may fairly answer one differently when the two amounts all but agree.
 *
 * - `covered`: are the tokens enough, so that there is no wait? Margin in tokens.
 * - `prompt`: is the wait, cut to whole nanoseconds, none? Margin in nanoseconds.
 * - `late`: is the time to act before the cancellation? Margin in nanoseconds.
 * - `spent`: have later reservations eaten all there was to restore? Margin in tokens.
 * - `latest`: is this reservation's time to act the last event? Margin in nanoseconds.
 * - `past`: would the last event move to before the cancellation? Margin in nanoseconds.
 */
export type Question = 'covered' | 'prompt' | 'late' | 'spent' | 'latest' | 'past'

/** Sees the exact answer and how far from tipping it was, and says which answer to go on with. */
export type Judge = (question: Question, exact: boolean, margin: Fraction) => boolean

const exactly: Judge = (_question, exact) => exact

export class BucketModel {
  limit: Rate
  burst: bigint
  /** What is in the bucket at `last`; below zero while in debt. */
  stored: Fraction
  /** Undefined until something has been written. */
  last: bigint | undefined
  lastEvent: bigint | undefined

  constructor(limit: Rate, burst: bigint) {
    this.limit = limit
    this.burst = burst
    this.stored = fraction(burst)
    this.last = undefined
    this.lastEvent = undefined
  }

  clone(): BucketModel {
    const copy = new BucketModel(this.limit, this.burst)
    copy.stored = this.stored
    copy.last = this.last
    copy.lastEvent = this.lastEvent
    return copy
  }

  /** What the bucket holds at `t`. Reads only. */
  tokens(t: bigint): Fraction {
    const brim = fraction(this.burst)
    // A bucket nobody has written to is as full as it was made, whenever one looks. A clock that
    // has gone back has let no time pass.
    const elapsed = this.last === undefined || t < this.last ? 0n : t - this.last
    if (elapsed === 0n) return smaller(this.stored, brim)
    // The rules' infinite rate is the greatest double there is: one nanosecond fills any bucket.
    if (this.limit === 'unlimited') return brim
    const seconds = over(fraction(elapsed), NS_PER_SECOND)
    return smaller(plus(this.stored, times(seconds, this.limit)), brim)
  }

  /** Reserves, but only if there is nothing to wait for. */
  allow(n: bigint, t: bigint): boolean {
    return this.reserve(n, t, 0n).ok
  }

  /** Reserves, unless the wait would be longer than `maxWait`. */
  reserve(n: bigint, t: bigint, maxWait = NEVER, judge: Judge = exactly): ModelReservation {
    const { limit } = this
    const none = { n, limit, rawWait: ZERO, never: false }
    if (limit === 'unlimited') return { ...none, ok: true, timeToAct: t }

    const left = minus(this.tokens(t), fraction(n))
    const covered = judge('covered', sign(left) >= 0, left)
    const missing = minus(ZERO, left)
    const rawWait = covered && sign(limit) <= 0 ? ZERO : timeFor(missing, limit)
    const wait = covered ? 0n : cut(rawWait)

    const refused = { ...none, ok: false, timeToAct: t }
    if (n > this.burst) return refused
    // Under one nanosecond is cut down to nothing, so that is where "at once" ends.
    const inTime = maxWait === NEVER || judge('prompt', wait <= maxWait, minus(rawWait, ONE))
    if (!inTime) return refused

    this.last = t
    this.stored = left
    this.lastEvent = t + wait
    return { ok: true, n, limit, rawWait, never: wait === NEVER, timeToAct: t + wait }
  }

  /** How long from `t` until the holder may act. */
  delay(reservation: ModelReservation, t: bigint): bigint {
    if (!reservation.ok) return NEVER
    const delay = reservation.timeToAct - t
    if (delay < 0n) return 0n
    return delay > NEVER ? NEVER : delay
  }

  /**
   * Whether the rules say what cancelling does. They do not for a reservation that was made while
   * there was no limit, took nothing, and is cancelled when there is one.
   */
  knowsHowToCancel(reservation: ModelReservation): boolean {
    return reservation.limit !== 'unlimited' || this.limit === 'unlimited'
  }

  /** Gives back what no later reservation has counted on. */
  cancel(reservation: ModelReservation, t: bigint, judge: Judge = exactly): void {
    const { ok, n, timeToAct, limit } = reservation
    if (!ok || this.limit === 'unlimited' || n === 0n) return
    if (limit === 'unlimited' || this.lastEvent === undefined) throw new Error('no rule for this')
    if (judge('late', timeToAct < t, fraction(timeToAct - t))) return

    const since = over(fraction(this.lastEvent - timeToAct), NS_PER_SECOND)
    const restore = minus(fraction(n), times(limit, since))
    if (judge('spent', sign(restore) <= 0, restore)) return

    this.stored = smaller(plus(this.tokens(t), restore), fraction(this.burst))
    this.last = t
    if (judge('latest', timeToAct === this.lastEvent, fraction(timeToAct - this.lastEvent))) {
      const previous = timeToAct - cut(timeFor(fraction(n), limit))
      if (!judge('past', previous < t, fraction(previous - t))) this.lastEvent = previous
    }
  }

  setLimit(limit: Rate, t: bigint): void {
    this.stored = this.tokens(t)
    this.last = t
    this.limit = limit
  }

  setBurst(burst: bigint, t: bigint): void {
    this.stored = this.tokens(t)
    this.last = t
    this.burst = burst
  }
}

/** How many nanoseconds `tokens` take to come in. */
function timeFor(tokens: Fraction, limit: Fraction): Fraction {
  if (sign(limit) <= 0) return fraction(NEVER)
  return times(over(tokens, limit), NS_PER_SECOND)
}

/** A duration in whole nanoseconds, and no longer than `NEVER`. */
function cut(duration: Fraction): bigint {
  const ns = whole(duration)
  return ns > NEVER ? NEVER : ns
}
