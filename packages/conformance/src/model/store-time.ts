import { type Capabilities, type Clock, type EpochMs, RisingTime } from '@sluice/core'

/** The time of a store, and by how much it is ahead of the wall clock. */
export interface StoreTime {
  now(): EpochMs
  readonly ahead: number
}

/** The wall clock at creation plus monotonic time: steps have no effect. */
class SteadyTime implements StoreTime {
  readonly #clock: Clock
  readonly #beginning: EpochMs

  constructor(clock: Clock) {
    this.#clock = clock
    this.#beginning = clock.now() - clock.monotonicMs()
  }

  now(): EpochMs {
    return this.#beginning + this.#clock.monotonicMs()
  }

  get ahead(): number {
    return this.now() - this.#clock.now()
  }
}

/** The time of a store that treats steps of `clock` as `kind` says. */
export function storeTime(clock: Clock, kind: Capabilities['time']): StoreTime {
  return kind === 'wall' ? new RisingTime(clock) : new SteadyTime(clock)
}
