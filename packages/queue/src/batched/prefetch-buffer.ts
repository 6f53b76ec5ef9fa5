import type { Clock, Timer } from '@sluice/core'
import { instantSlackMs } from '../environment/timing.ts'
import type { HeldKey } from '../held/held-key.ts'

/** A key that was claimed before anybody asked for it. */
interface Prefetched {
  readonly held: HeldKey<unknown>
  readonly since: number
}

/** What keeps keys ahead needs of its queue. */
export interface PrefetchOptions {
  readonly clock: () => Clock
  readonly leaseMs: number
  giveBack(held: HeldKey<unknown>): void
}

/**
 * Keys that were claimed ahead of demand. A key that nobody started on for a third of its lease is
 * given back, so that it does not wait here while others are idle.
 */
export class PrefetchBuffer {
  #early: Prefetched[] = []
  readonly #clock: () => Clock
  readonly #keepMs: number
  readonly #giveBack: (held: HeldKey<unknown>) => void
  #timer: Timer | undefined

  constructor(options: PrefetchOptions) {
    this.#clock = options.clock
    this.#keepMs = options.leaseMs / 3
    this.#giveBack = options.giveBack
  }

  get size(): number {
    return this.#early.length
  }

  push(held: HeldKey<unknown>): void {
    this.#early.push({ held, since: this.#clock().monotonicMs() })
    this.#watch()
  }

  /** Takes the oldest that is still good. */
  shift(): HeldKey<unknown> | undefined {
    for (;;) {
      const early = this.#early.shift()
      if (early === undefined) return undefined
      if (early.held.mayStart()) return early.held
    }
  }

  /** Takes all of them. */
  takeAll(): HeldKey<unknown>[] {
    const all = this.#early.map(({ held }) => held)
    this.#early = []
    this.#timer?.stop()
    this.#timer = undefined
    return all
  }

  #watch(): void {
    const oldest = this.#early[0]
    if (this.#timer !== undefined || oldest === undefined || this.#keepMs === Infinity) return
    const clock = this.#clock()
    const ms = oldest.since + this.#keepMs - clock.monotonicMs()
    this.#timer = clock.startTimer(ms, () => {
      this.#timer = undefined
      this.#sweep()
      this.#watch()
    })
  }

  #sweep(): void {
    const lastGood = this.#clock().monotonicMs() + instantSlackMs - this.#keepMs
    const late = this.#early.filter(({ since }) => since <= lastGood)
    this.#early = this.#early.filter(({ since }) => since > lastGood)
    for (const { held } of late) this.#giveBack(held)
  }
}
