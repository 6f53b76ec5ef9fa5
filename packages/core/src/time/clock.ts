/** Milliseconds since the Unix epoch, with fractions. Always finite. */
export type EpochMs = number

/** A timer that runs its callback once. */
export interface Timer {
  /** Cancels the callback; true if it was still pending. */
  stop(): boolean
  /** Starts over: the callback runs `ms` from now. True if it was still pending. */
  reset(ms: number): boolean
  /** Lets the process live as long as the timer is pending, or not. Timers start unref'd. */
  ref(): void
  /** The opposite of {@link Timer.ref}. */
  unref(): void
}

/** A timer that runs its callback again and again until it is stopped. */
export interface Ticker {
  /** Ends the ticking; true if it was still ticking. */
  stop(): boolean
}

/**
 * The only source of time in Sluice.
 *
 * The clock of a queue decides the meaning of every delay, back-off and lease, in every store.
 * Sockets and lock retries always use real time.
 */
export interface Clock {
  /** The time of the wall clock: it may jump, also backwards. */
  now(): EpochMs
  /**
   * Milliseconds on a clock that never jumps and never goes back. Only differences mean anything.
   */
  monotonicMs(): number
  /**
   * Runs `callback` once, `ms` from now. Delays of any length are honoured, also those beyond what
   * the runtime's own timers can hold; zero and less run as soon as possible, never synchronously.
   */
  startTimer(ms: number, callback: () => void): Timer
  /**
   * Runs `callback` every `ms`, which must be above zero. Ticks that were missed are not made up.
   */
  startTicker(ms: number, callback: () => void): Ticker
}
