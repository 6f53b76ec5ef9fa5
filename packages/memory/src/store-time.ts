import { type Clock, type EpochMs, systemClock } from '@sluice/core/driver'

/** How many readings in a row may share one look at the clock. */
const readingsPerLook = 32

// Taken when the module loads, so that a test runner's fake timers do not hold it up. biome-ignore
// lint/style/noRestrictedGlobals: not time, but the end of this turn of the event loop.
const nextTurn = setImmediate

/** By how much the wall clock has to be off the store's time before that counts as a step. */
const stepMsMin = 1_000

/**
 * The time of a store, in two grades. It begins with the wall clock and goes on by the monotonic
 * clock, so that setting the wall clock neither delays what is ready nor ends a lease.
 *
 * Looking at the clock costs as much as an add. Where nobody can tell, the time is a *coarse* one:
 * what an earlier look saw, up to 32 readings ago and in this same turn of the event loop. It is
 * never ahead of the clock. A clock that was handed in is looked at every time.
 */
export class StoreTime {
  private clock: Clock = systemClock
  private isCoarse = true
  /** The store's time less that of the monotonic clock. */
  private offsetMs: number = systemClock.now() - systemClock.monotonicMs()
  /** What {@link ahead} last said. */
  private told = 0
  /**
   * What the last look saw. Begins undefined so that the engine keeps it boxed and hands the same
   * box on and on, where it would make one per reading of a plain number: 222 against 262 ns for a
   * synchronous add, claim and done.
   */
  private seen: EpochMs | undefined
  private readingsLeft = 0
  private isTurnWatched = false

  /** Obeys `clock` from now on, or the clock of this process. Time goes on; it does not go back. */
  follow(clock: Clock = systemClock): void {
    this.readingsLeft = 0
    if (clock === this.clock) return
    const now = this.seen === undefined ? clock.now() : Math.max(clock.now(), this.exact())
    this.clock = clock
    this.isCoarse = clock === systemClock
    this.offsetMs = now - clock.monotonicMs()
    this.readingsLeft = 0
  }

  /** By how much the time is ahead of the wall clock; 0 unless that was set. */
  get ahead(): number {
    const ahead = this.exact() - this.clock.now()
    // A clock that was handed in is exact. The two of this machine are rounded, each in its way.
    if (!this.isCoarse || Math.abs(ahead - this.told) >= stepMsMin) this.told = ahead
    return this.told
  }

  /** The time, or a recent one. */
  coarse(): EpochMs {
    if (this.readingsLeft === 0) return this.exact()
    this.readingsLeft -= 1
    return this.seen!
  }

  /** The time. */
  exact(): EpochMs {
    this.seen = this.clock.monotonicMs() + this.offsetMs
    if (this.isCoarse) {
      this.readingsLeft = readingsPerLook - 1
      if (!this.isTurnWatched) this.watchTurn()
    }
    return this.seen!
  }

  private watchTurn(): void {
    this.isTurnWatched = true
    nextTurn(this.endTurn).unref()
  }

  private readonly endTurn = (): void => {
    this.isTurnWatched = false
    this.readingsLeft = 0
  }
}
