import { type EpochMs, RisingTime } from '@sluice/core'
import type { DriverHandle } from './driver-handle.ts'

/** How fast the clocks of two machines may drift apart, in milliseconds per millisecond. */
const driftMax = 0.001

/**
 * The store's time as this process knows it. Where the store follows a clock that was given, it is
 * that clock's; otherwise it is taken from the answers of the store.
 *
 * The time in an answer was read at some instant between sending and answering. It is taken for the
 * instant of sending: then the estimate is never behind the store, so that due keys are claimed on
 * time, and it is early by no more than the quickest call took to arrive.
 */
export class StoreTime {
  readonly #store: DriverHandle
  /** The store's time less this process's monotonic time, and when that was learned. */
  #offsetMs: number | undefined
  #learnedAt = 0
  #given: RisingTime | undefined

  constructor(store: DriverHandle) {
    this.#store = store
  }

  /**
   * Whether the store follows the clock that its queues were given, so that there is nothing to
   * learn but how far it is ahead.
   */
  get #isGiven(): boolean {
    const { clock, time } = this.#store.driver.capabilities
    return this.#store.hasGivenClock && clock && time === 'wall'
  }

  now(): EpochMs {
    const { clock } = this.#store
    if (this.#isGiven) {
      this.#given ??= new RisingTime(clock)
      return this.#given.now()
    }
    return this.#offsetMs === undefined ? clock.now() : clock.monotonicMs() + this.#offsetMs
  }

  /** The store said `now` in the answer to a call that was sent at `sentAt` (monotonic). */
  learn(now: EpochMs, sentAt: number): void {
    // A store is further ahead of a given clock if it has seen steps back that were not seen here.
    if (now > this.now()) this.#given?.atLeast(now)
    const answeredAt = this.#store.clock.monotonicMs()
    const lowest = now - answeredAt
    const highest = now - sentAt
    const known = this.#offsetMs
    const driftMs = (answeredAt - this.#learnedAt) * driftMax
    // The quickest answer is the most precise, until the clocks have drifted or one of them was
    // set.
    if (known !== undefined && highest > known + driftMs && lowest <= known) return
    this.#offsetMs = highest
    this.#learnedAt = answeredAt
  }
}
