import type { Clock, Timer } from '@sluice/core'
import { instantSlackMs } from '../environment/timing.ts'
import { mayStart } from '../held/give-back.ts'
import type { HeldKey } from '../held/held-key.ts'

/** A key that was claimed before a slot was free. */
interface Prefetched {
  readonly held: HeldKey<unknown>
  readonly since: number
}

/** The queue of the prefetched keys. */
export interface PrefetchOptions {
  readonly clock: () => Clock
  /** How long a key is kept. */
  keepMs(): number
  giveBack(held: HeldKey<unknown>): void
}

/**
 * Keys that were claimed ahead of workers. A key that none of them starts in time is given back, so
 * that it does not wait here while other workers are idle.
 */
export class PrefetchBuffer {
  #keys: Prefetched[] = []
  readonly #clock: () => Clock
  readonly #keepMs: () => number
  readonly #giveBack: (held: HeldKey<unknown>) => void
  #timer: Timer | undefined

  constructor(options: PrefetchOptions) {
    this.#clock = options.clock
    this.#keepMs = options.keepMs
    this.#giveBack = options.giveBack
  }

  get size(): number {
    return this.#keys.length
  }

  push(held: HeldKey<unknown>): void {
    this.#keys.push({ held, since: this.#clock().monotonicMs() })
    this.#watch()
  }

  /** Takes the oldest key whose lease has not expired. */
  shift(): HeldKey<unknown> | undefined {
    for (;;) {
      const key = this.#keys.shift()
      if (key === undefined) return undefined
      if (mayStart(key.held)) return key.held
    }
  }

  /** Takes all keys. */
  takeAll(): HeldKey<unknown>[] {
    const all = this.#keys.map(({ held }) => held)
    this.#keys = []
    this.#timer?.stop()
    this.#timer = undefined
    return all
  }

  #watch(): void {
    const oldest = this.#keys[0]
    if (this.#timer !== undefined || oldest === undefined) return
    const clock = this.#clock()
    const ms = oldest.since + this.#keepMs() - clock.monotonicMs()
    this.#timer = clock.startTimer(ms, () => {
      this.#timer = undefined
      this.#sweep()
      this.#watch()
    })
  }

  #sweep(): void {
    const keptSince = this.#clock().monotonicMs() + instantSlackMs - this.#keepMs()
    const unused = this.#keys.filter(({ since }) => since <= keptSince)
    this.#keys = this.#keys.filter(({ since }) => since > keptSince)
    for (const { held } of unused) this.#giveBack(held)
  }
}
