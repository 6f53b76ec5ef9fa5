/** How long a replica that is missing is expected to return, in milliseconds. */
const missingMsMax = 600_000

/** The longest time between two looks that still counts as watching, in milliseconds. */
const gapMsMax = 10_000

/**
 * How many replicas a primary is expected to have: as many as it had before. One that is missing may be
 * promoted all the same, and the writes that it has not received are lost then. After ten minutes in
 * which the primary answered without it, it is not expected any more.
 */
export class ReplicaCount {
  #expected = 0
  #missingSince: number | undefined
  #notedAt = -Infinity

  /** How many there should be. */
  get expected(): number {
    return this.#expected
  }

  /** The primary says how many are connected; `now` on the monotonic clock. */
  note(connected: number, now: number): void {
    const wasWatching = now - this.#notedAt <= gapMsMax
    this.#notedAt = now
    if (connected >= this.#expected) {
      this.#expected = connected
      this.#missingSince = undefined
    } else if (this.#missingSince === undefined || !wasWatching) {
      this.#missingSince = now
    } else if (now - this.#missingSince > missingMsMax) {
      this.#expected = connected
      this.#missingSince = undefined
    }
  }

  /** This primary has taken the place of another one, whose replicas will follow it. */
  inherit(from: ReplicaCount): void {
    this.#expected = Math.max(this.#expected, from.#expected)
  }
}
