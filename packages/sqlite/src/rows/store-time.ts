import { type Clock, type EpochMs, RisingTime } from '@sluice/core/driver'

/** How a store's time is kept in its file. */
export interface StoredTime {
  readonly ahead: number
  readonly latest: EpochMs
}

/** The time of one store by one clock: never earlier than any instant in the file. */
export class StoreTime {
  readonly #rising: RisingTime
  #hasStarted = false

  constructor(clock: Clock) {
    this.#rising = new RisingTime(clock)
  }

  /** How far it is ahead of its clock. */
  get ahead(): number {
    return this.#rising.ahead
  }

  /**
   * Reads the clock. The more often it is read, the less of a step back is mistaken for elapsed
   * time.
   */
  read(): void {
    // Before a transaction has read the row of the store, this process does not know how far it is
    // ahead.
    if (this.#hasStarted) this.#rising.now()
  }

  /** The current time, agreed with the other processes through the file. */
  agree({ ahead, latest }: StoredTime): EpochMs {
    // Only once: processes that read different clocks would push each other forward.
    if (!this.#hasStarted) this.#rising.startAhead(ahead)
    this.#hasStarted = true
    this.#rising.atLeast(latest)
    return this.#rising.latest
  }
}
