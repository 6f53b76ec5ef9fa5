import { type Clock, type EpochMs, type RisingTime, risingTimeOf } from '@sluice/core/driver'
import type { Row } from '../connection/client-shapes.ts'
import { number } from './columns.ts'

/** The slack for clocks that run at different speeds: a share of the time since an answer, and more. */
const driftShare = 0.001
const slackMs = 100

/** The parameters from which a statement computes the present. */
export interface Moment {
  /** The time of a given clock; null if the server's decides. */
  readonly now: EpochMs | null
  /** The present is at least this by the server's clock; null if that is not known. */
  readonly least: EpochMs | null
}

/**
 * The store's time as this process knows it: by a clock that was given, or by the answers of the
 * server, whose wall clock may be set back.
 *
 * Every statement carries the least that the present can be, by earlier answers and the monotonic
 * clock of this process. A server that answers with exactly that has fallen behind it: `onBehind` has
 * to set the store's time forward for other processes.
 */
export class StoreTime {
  readonly #given: RisingTime | undefined
  /** The monotonic clock of this process. */
  readonly monotonicMs: () => number
  readonly #onBehind: () => void
  #latest: EpochMs = -Infinity
  /** When the newest answer came, on the monotonic clock. */
  #answeredAt = 0
  #ahead = 0

  constructor(given: Clock | undefined, monotonicMs: () => number, onBehind: () => void) {
    this.#given = given === undefined ? undefined : risingTimeOf(given)
    this.monotonicMs = monotonicMs
    this.#onBehind = onBehind
  }

  /** By how many milliseconds the store's time is ahead of its wall clock. */
  get ahead(): number {
    return this.#given?.ahead ?? this.#ahead
  }

  set ahead(ms: number) {
    this.#ahead = ms
  }

  /** The parameters for a statement that is sent now. */
  moment(): Moment {
    if (this.#given !== undefined) return { now: this.#given.now(), least: null }
    if (this.#latest === -Infinity) return { now: null, least: null }
    const passedMs = this.monotonicMs() - this.#answeredAt
    const risen = passedMs * (1 - driftShare) - slackMs
    return { now: null, least: this.#latest + Math.max(0, risen) }
  }

  /** The present by the monotonic clock, without slack: sent to a server that fell behind. */
  expected(): EpochMs {
    return this.#latest + (this.monotonicMs() - this.#answeredAt)
  }

  /** Takes the columns `now` and `ahead` of the answer to a statement that was sent with `moment`. */
  noteRow(row: Row, moment: Moment): void {
    this.#ahead = number(row['ahead'])
    this.noteAnswer(number(row['now']), moment)
  }

  /** The server has answered that it is `now`, to a statement that was sent with `moment`. */
  noteAnswer(now: EpochMs, { least }: Moment): void {
    if (this.#given !== undefined) return
    // From then on, time goes on by the monotonic clock.
    if (now === least) this.#onBehind()
    else this.startAt(now)
  }

  /** The present is at least `now`. */
  startAt(now: EpochMs): void {
    if (!(now > this.#latest)) return
    this.#latest = now
    this.#answeredAt = this.monotonicMs()
  }
}
