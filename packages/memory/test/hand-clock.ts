import { type Clock, type EpochMs, systemClock } from '@sluice/core'

/** A clock for tests that await nothing: its timers are of no use. */
export class HandClock implements Clock {
  #wallMs: EpochMs
  #monotonicMs = 0
  readonly startTimer: Clock['startTimer'] = systemClock.startTimer
  readonly startTicker: Clock['startTicker'] = systemClock.startTicker

  constructor(startMs: EpochMs = 1_735_689_600_000) {
    this.#wallMs = startMs
  }

  now(): EpochMs {
    return this.#wallMs
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  /** Time passes, by both clocks. */
  pass(ms: number): void {
    this.#wallMs += ms
    this.#monotonicMs += ms
  }

  /** Sets the wall clock. */
  setTime(ms: EpochMs): void {
    this.#wallMs = ms
  }
}
