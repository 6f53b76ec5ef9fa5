import { type Clock, type EpochMs, type RisingTime, risingTimeOf } from '@sluice/core/driver'

/** The slack for clocks that run at different speeds: a share of the time since a reply, and more. */
const driftShare = 0.001
const slackMs = 100

/**
 * The store's time as this process knows it: by a clock that was given, or by the replies of the
 * server, whose wall clock may be set back.
 *
 * Every script is sent the least that the present can be, by earlier replies and the monotonic clock
 * of this process. A script whose server is behind that sets the store's time forward.
 */
export class StoreTime {
  readonly #given: RisingTime | undefined
  readonly #monotonicMs: () => number
  #latest: EpochMs = -Infinity
  /** When the newest reply came, on the monotonic clock. */
  #repliedAt = 0
  #ahead = 0

  constructor(given: Clock | undefined, monotonicMs: () => number) {
    this.#given = given === undefined ? undefined : risingTimeOf(given)
    this.#monotonicMs = monotonicMs
  }

  /** By how many milliseconds the store's time is ahead of its wall clock. */
  get ahead(): number {
    return this.#given?.ahead ?? this.#ahead
  }

  /** The newest time that is known. */
  get latest(): EpochMs {
    return this.#given?.latest ?? this.#latest
  }

  /** The time of a given clock, and the least that the present can be, as arguments; '' for none. */
  moment(): readonly [given: string, least: string] {
    if (this.#given !== undefined) return [String(this.#given.now()), '']
    if (this.#latest === -Infinity) return ['', '']
    const passedMs = this.#monotonicMs() - this.#repliedAt
    const risen = passedMs * (1 - driftShare) - slackMs
    return ['', String(this.#latest + Math.max(0, risen))]
  }

  /** A script has replied that it is `now`. */
  note(now: EpochMs, ahead: number): void {
    if (this.#given !== undefined) {
      this.#given.atLeast(now)
      return
    }
    this.#ahead = ahead
    if (!(now > this.#latest)) return
    this.#latest = now
    this.#repliedAt = this.#monotonicMs()
  }
}
