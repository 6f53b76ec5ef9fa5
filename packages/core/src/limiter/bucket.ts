/**
 * The arithmetic of a token bucket, on plain data and without a clock: a store has the state in a
 * row, `TokenBucket` of `@sluice/limiters` in a field.
 *
 * A bucket of `burst` tokens fills at `perSecond`. A token can be taken before it is there; the
 * reply is how long to wait until it would have been. Tokens may therefore be below zero: that many
 * are reserved of the future ones. No timer runs: each call computes the tokens that were added
 * since the last one.
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

/** The stored state of a bucket. `undefined`, when nothing is stored, is a full bucket. */
export interface BucketState {
  /** Tokens at `lastMs`; below zero when tokens of the future are reserved already. */
  readonly tokens: number
  readonly lastMs: EpochMs
}

/** The result of an attempt to take tokens. */
export interface BucketReservation {
  /** Whether tokens were taken. */
  readonly ok: boolean
  /**
   * How long until they may be used, in whole nanoseconds; `Infinity` if that never happens, and if
   * none were taken.
   */
  readonly delayMs: number
  /** The state to store; the same object (or `undefined`) as before if nothing changed. */
  readonly state: BucketState | undefined
}

/** Beyond this a Go duration overflows, and the originals say "never": 2^63 nanoseconds. */
const neverNs = 2 ** 63

/** How many tokens are added during `ms`. */
export function tokensDuring(ms: number, perSecond: number): number {
  // Both cases are necessary: zero times infinity is not a number.
  if (perSecond <= 0 || ms === 0) return 0
  return (ms / 1_000) * perSecond
}

/** How long it takes to add `tokens`: whole nanoseconds, or `Infinity` if that never happens. */
export function msForTokens(tokens: number, perSecond: number): number {
  if (perSecond <= 0) return Infinity
  const ns = Math.trunc((tokens / perSecond) * 1e9)
  return ns >= neverNs ? Infinity : ns / 1e6
}

/**
 * How many tokens there are at `now`: the stored ones and those added since, up to `burst`. If time
 * went back, none were added and none are lost.
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
 * Takes `n` tokens at `now`, unless they exceed `burst` or would not be there within `maxWaitMs`. A
 * bucket with an infinite rate always has tokens and never changes.
 *
 * `now` becomes the bucket's time even if it is before the time it had: a clock that was set back
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
 * `state` is the state to store; the same object (or `undefined`) as before if nothing changed.
 */
export function reserveToken(
  state: BucketState | undefined,
  rate: BucketRate,
  now: EpochMs,
): { readonly delayMs: number; readonly state: BucketState | undefined } {
  return reserveTokens(state, rate, now, 1, Infinity)
}
