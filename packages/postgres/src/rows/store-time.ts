import { type Clock, type EpochMs, RisingTime } from '@sluice/core'

/** The slack for clocks that run at different speeds: a part of the time since an answer, and more. */
const driftShare = 0.001
const slackMs = 100

/** What a statement is sent with, so that it knows the present. */
export interface Moment {
  /** The time of a given clock; null if the server's decides. */
  readonly now: EpochMs | null
  /** The present is at least this by the server's clock; null if that is not known. */
  readonly least: EpochMs | null
}

/** One for each clock, so that all drivers that were given it agree. */
const risingTimes = new WeakMap<Clock, RisingTime>()

function risingTimeOf(clock: Clock): RisingTime {
  let time = risingTimes.get(clock)
  if (time === undefined) {
    time = new RisingTime(clock)
    risingTimes.set(clock, time)
  }
  return time
}

/**
 * The store's time as this process knows it: by a clock that was given, or by the answers of the
 * server, whose clock may be set back.
 *
 * Every statement takes along the least that the present can be, by earlier answers and the monotonic
 * clock of this process. A server that answers with exactly that has fallen behind it, and `onBehind`
 * has to tell the server so, for other processes.
 */
export class StoreTime {
  readonly #given: RisingTime | undefined
  readonly #monotonicMs: () => number
  readonly #onBehind: () => void
  #latest: EpochMs = -Infinity
  /** When the newest answer came, on the monotonic clock. */
  #heardAt = 0
  #ahead = 0

  constructor(given: Clock | undefined, monotonicMs: () => number, onBehind: () => void) {
    this.#given = given === undefined ? undefined : risingTimeOf(given)
    this.#monotonicMs = monotonicMs
    this.#onBehind = onBehind
  }

  /** By how many milliseconds the store's time is ahead of its wall clock. */
  get ahead(): number {
    return this.#given?.ahead ?? this.#ahead
  }

  set ahead(ms: number) {
    this.#ahead = ms
  }

  /** What to send a statement with now. */
  moment(): Moment {
    if (this.#given !== undefined) return { now: this.#given.now(), least: null }
    if (this.#latest === -Infinity) return { now: null, least: null }
    const passedMs = this.#monotonicMs() - this.#heardAt
    const risen = passedMs * (1 - driftShare) - slackMs
    return { now: null, least: this.#latest + Math.max(0, risen) }
  }

  /** The present by the monotonic clock, without slack: sent to a server that fell behind. */
  expected(): EpochMs {
    return this.#latest + (this.#monotonicMs() - this.#heardAt)
  }

  /** The server has said that it is `now`, in answer to a statement that was sent with `moment`. */
  heard(now: EpochMs, { least }: Moment): void {
    if (this.#given !== undefined) return
    // From there on, time goes on by the monotonic clock.
    if (now === least) this.#onBehind()
    else this.startAt(now)
  }

  /** The present is at least `now`. */
  startAt(now: EpochMs): void {
    if (!(now > this.#latest)) return
    this.#latest = now
    this.#heardAt = this.#monotonicMs()
  }
}
