import type { Clock, EpochMs } from './clock.ts'

/** A shorter step of the wall clock may be drift: the next reading decides. */
const stepMsMin = 1_000

/**
 * A store's time, derived from a wall clock that may be set: it follows the wall clock forward and
 * never goes back.
 *
 * When the wall clock was set back, time continues from the last reading, by the monotonic clock,
 * and stays `ahead` of the wall clock from then on.
 */
export class RisingTime {
  readonly #clock: Clock
  #ahead = 0
  #latest: EpochMs = -Infinity
  /** The time of that reading on the monotonic clock. */
  #readAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How far this time is ahead of the wall clock. */
  get ahead(): number {
    return this.#ahead
  }

  /** The newest instant that was read, or that {@link atLeast} was called with. */
  get latest(): EpochMs {
    return this.#latest
  }

  /** The present. */
  now(): EpochMs {
    const monotonicMs = this.#clock.monotonicMs()
    const wall = this.#clock.now() + this.#ahead
    const expected = this.#latest + (monotonicMs - this.#readAt)
    const wasSetBack = wall < this.#latest || wall < expected - stepMsMin
    const now = wasSetBack ? Math.max(this.#latest, expected) : wall
    this.#ahead += now - wall
    this.#latest = now
    this.#readAt = monotonicMs
    return now
  }

  /** Continues from `instant`, which another process has read, if that is later. */
  atLeast(instant: EpochMs): void {
    const behind = instant - this.now()
    if (!(behind > 0)) return
    this.#ahead += behind
    this.#latest = instant
  }

  /** Takes over how far an earlier process was ahead. */
  startAhead(ahead: number): void {
    this.#ahead = Math.max(this.#ahead, ahead)
  }
}

const risingTimes = new WeakMap<Clock, RisingTime>()

/** The one {@link RisingTime} of a clock, so that all drivers that are given the same clock agree. */
export function risingTimeOf(clock: Clock): RisingTime {
  let time = risingTimes.get(clock)
  if (time === undefined) {
    time = new RisingTime(clock)
    risingTimes.set(clock, time)
  }
  return time
}
