import { type EpochMs, leaseMsDefault } from '@sluice/core'
import type { DriverCalls } from '../driver/driver-calls.ts'

/** A shorter difference is left to drift, and to the time that an answer takes. */
const stepMsMin = 1_000

/**
 * Detects steps of wall clocks by the monotonic clock of this process: of the store's clock in the
 * times of its answers, of the clock of this process by reading it.
 *
 * A suspended machine appears as a step forward: its monotonic clock stood still.
 */
export class ClockSteps {
  readonly #calls: DriverCalls
  readonly #onStep: () => void
  /** The lease of other processes, as far as is known: that of this queue, or the default. */
  readonly leaseMs: number
  readonly #stepMs: number
  /** Between which bounds the store's time less the monotonic clock was, by its last answer. */
  #store: { readonly least: number; readonly most: number } | undefined
  /** The wall clock of this process less its monotonic clock. */
  #wallOffset: number | undefined
  /** When the last step was detected, on the monotonic clock. */
  #steppedAt = -Infinity
  /** When the last step was detected before which no lease was in doubt, on the monotonic clock. */
  doubtedSince: number = -Infinity
  /** How many steps were detected. */
  count = 0

  constructor(calls: DriverCalls, onStep: () => void) {
    this.#calls = calls
    this.#onStep = onStep
    const { leaseMs } = calls.options
    this.leaseMs = leaseMs === Infinity ? leaseMsDefault : leaseMs
    this.#stepMs = Math.max(stepMsMin, this.leaseMs / 4)
  }

  /**
   * For how long leases that seem to have expired may still be those of healthy holders; mostly 0.
   */
  get doubtMs(): number {
    return Math.max(0, this.#steppedAt + this.leaseMs - this.#calls.handle.clock.monotonicMs())
  }

  /** The store's time in an answer to a call that was sent at `sentAt`, on the monotonic clock. */
  checkStoreTime(now: EpochMs, sentAt: number): void {
    this.checkWallClock()
    const last = this.#store
    const least = now - this.#calls.handle.clock.monotonicMs()
    const most = now - sentAt
    this.#store = { least, most }
    if (last === undefined) return
    if (least > last.most + this.#stepMs || most < last.least - this.#stepMs) this.#stepped()
  }

  /** Reads the wall clock of this process. */
  checkWallClock(): void {
    const last = this.#wallOffset
    const { handle, driver } = this.#calls
    // The store's time follows no wall clock, so that its steps mean nothing for leases.
    if (driver.capabilities.time === 'monotonic') return
    const offset = handle.clock.now() - handle.clock.monotonicMs()
    this.#wallOffset = offset
    if (last !== undefined && Math.abs(offset - last) > this.#stepMs) {
      // A store that follows this clock is expected to show the same step.
      this.#store = undefined
      this.#stepped()
    }
  }

  #stepped(): void {
    const now = this.#calls.handle.clock.monotonicMs()
    if (this.doubtMs === 0) this.doubtedSince = now
    this.#steppedAt = now
    this.count += 1
    this.#onStep()
  }
}
