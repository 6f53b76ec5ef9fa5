import { heartbeatMs, systemClock, type Ticker } from '@sluice/core'
import type { HeldKey } from './held-key.ts'
import type { HeldSet } from './held-set.ts'

/**
 * Keeps the keys that a queue object holds: renews their leases, and detects Helds that were
 * dropped.
 */
export interface HoldKeeper {
  /** Called with every claim; must cost almost nothing when the keeper is running already. */
  start(held: HeldKey<unknown>): void
  stop(): void
  /** A clock was stepped: the store may report leases as expired that were just renewed. */
  onClockStep(): void
  /** Until when, on the monotonic clock, a claim that was sent at `sentAt` is trusted. */
  deadlineOf(sentAt: number): number
  /** Whether renewing should have happened by now, and has not. */
  readonly isOverdue: boolean
}

/**
 * The keeper of keys without a lease: there is nothing to renew, but a Held that was dropped must
 * be detected. In real time, since garbage is collected in real time.
 */
export class AgeKeeper implements HoldKeeper {
  readonly #helds: HeldSet
  #ticker: Ticker | undefined

  constructor(helds: HeldSet) {
    this.#helds = helds
  }

  start(): void {
    if (this.#ticker !== undefined) return
    this.#ticker = systemClock.startTicker(heartbeatMs, () => {
      if (this.#helds.isEmpty) this.stop()
      else this.#helds.age()
    })
  }

  stop(): void {
    this.#ticker?.stop()
    this.#ticker = undefined
  }

  onClockStep(): void {
    // Without a lease, no key expires.
  }

  // There is nothing to renew.
  readonly isOverdue = false

  deadlineOf(): number {
    return Infinity
  }
}
