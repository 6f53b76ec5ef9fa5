/**
 * The arithmetic of a token bucket, on plain data and without a clock: a store keeps the state in a
 * row, `TokenBucket` of `@sluice/limiters` in a field.
 *
 * A bucket of `burst` tokens fills at `perSecond`. Whoever takes a token takes it at once and is
 * told how long to wait until it would have been there; so tokens may be below zero, which is the
 * promise of later ones. Nothing runs in between: what has flowed in is worked out when someone
 * looks.
 *
 *     limit 10, burst 2, all at one instant:   wait 0, 0, 100, 200, 300 ms
 *                                              tokens 1, 0, -1, -2, -3
 */
import type { EpochMs } from '../time/clock.ts'

/** How fast a bucket fills, and how much it holds. */
export interface BucketRate {
  /** Tokens per second. 0: it never fills. `Infinity`: it never runs out. */
  readonly perSecond: number
  /** The most tokens it holds, and the most that can be taken at a time. */
  readonly burst: number
}

/** What is stored of a bucket. Nothing stored, `undefined`, is a full bucket. */
export interface BucketState {
  /** Tokens at `lastMs`; below zero when later ones are promised already. */
  readonly tokens: number
  readonly lastMs: EpochMs
}

/** What became of an attempt to take tokens. */
export interface BucketReservation {
  /** Whether tokens were taken. */
  readonly ok: boolean
  /**
   * How long until they may be used, in whole nanoseconds; `Infinity` if that never comes, and if
   * none were taken.
   */
  readonly delayMs: number
  /** What is to be stored: the very object that was given, or `undefined`, if nothing changed. */
  readonly state: BucketState | undefined
}

/** Beyond this a Go duration overflows, and the originals say "never": 2^63 nanoseconds. */
const neverNs = 2 ** 63

/** How many tokens flow in during `ms`. */
export function tokensDuring(ms: number, perSecond: number): number {
  // Not merely short cuts: zero times infinity is not a number.
  if (perSecond <= 0 || ms === 0) return 0
  return (ms / 1_000) * perSecond
}

/** How long `tokens` take to flow in: whole nanoseconds, or `Infinity` if that never happens. */
export function msForTokens(tokens: number, perSecond: number): number {
  if (perSecond <= 0) return Infinity
  const ns = Math.trunc((tokens / perSecond) * 1e9)
  return ns >= neverNs ? Infinity : ns / 1e6
}

/**
 * How many tokens there are at `now`: what was there, and what flowed in since, up to `burst`. When
 * time went back nothing flowed in, and nothing is lost.
 */
export function tokensAt(
  state: BucketState | undefined,
  { perSecond, burst }: BucketRate,
  now: EpochMs,
): number {
  if (state === undefined) return burst
  const elapsedMs = Math.max(0, now - state.lastMs)
  return Math.min(burst, state.tokens + tokensDuring(elapsedMs, perSecond))
}

/**
 * Takes `n` tokens at `now`, unless they are more than the bucket can hold or are not there within
 * `maxWaitMs`. A bucket with an infinite rate always gives, at once, and never changes.
 *
 * `now` becomes the bucket's time even if it lies before the time it had: a clock that was put back
 * must not stop the bucket from filling.
 */
export function reserveTokens(
  state: BucketState | undefined,
  rate: BucketRate,
  now: EpochMs,
  n: number,
  maxWaitMs: number,
): BucketReservation {
  if (rate.perSecond === Infinity) return { ok: true, delayMs: 0, state }
  const tokens = tokensAt(state, rate, now) - n
  const delayMs = tokens < 0 ? msForTokens(-tokens, rate.perSecond) : 0
  if (n > rate.burst || delayMs > maxWaitMs) return { ok: false, delayMs: Infinity, state }
  return { ok: true, delayMs, state: { tokens, lastMs: now } }
}

/**
 * Takes one token at `now`, however long the wait, as a limiter does. `delayMs` is `Infinity` when
 * the bucket holds none (burst 0) or never fills (rate 0); `planDelay` turns that into the longest
 * delay there is.
 *
 * `state` is what is to be stored: the very object that was given, or `undefined`, if nothing
 * changed.
 */
export function reserveToken(
  state: BucketState | undefined,
  rate: BucketRate,
  now: EpochMs,
): { readonly delayMs: number; readonly state: BucketState | undefined } {
  return reserveTokens(state, rate, now, 1, Infinity)
}
