import type { Clock, Timer } from '@sluice/core'
import { instantSlackMs } from '../../environment/timing.ts'
import { mayStart } from '../../held/give-back.ts'
import type { HeldKey } from '../../held/held-key.ts'

/** Keys that one claim brought before a slot was free. */
interface Prefetched {
  readonly helds: readonly HeldKey<unknown>[]
  /** Where the first of them is that has not been taken. */
  at: number
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
  #claims: Prefetched[] = []
  readonly #clock: () => Clock
  readonly #keepMs: () => number
  readonly #giveBack: (held: HeldKey<unknown>) => void
  #timer: Timer | undefined
  /** How many keys are kept. */
  size = 0

  constructor(options: PrefetchOptions) {
    this.#clock = options.clock
    this.#keepMs = options.keepMs
    this.#giveBack = options.giveBack
  }

  /** Keeps keys that a claim brought. */
  push(helds: readonly HeldKey<unknown>[]): void {
    if (helds.length === 0) return
    this.#claims.push({ helds, at: 0, since: this.#clock().monotonicMs() })
    this.size += helds.length
    this.#watch()
  }

  /** Takes the oldest key whose lease has not expired. */
  shift(): HeldKey<unknown> | undefined {
    const held = this.peek()
    if (held !== undefined) this.#drop()
    return held
  }

  /** The oldest key whose lease has not expired; those before it are given back. */
  peek(): HeldKey<unknown> | undefined {
    for (;;) {
      const claim = this.#claims[0]
      const held = claim?.helds[claim.at]
      if (held === undefined || mayStart(held)) return held
      this.#drop()
    }
  }

  #drop(): void {
    const claim = this.#claims[0]!
    claim.at += 1
    this.size -= 1
    if (claim.at === claim.helds.length) this.#claims.shift()
  }

  /** Takes all keys. */
  takeAll(): HeldKey<unknown>[] {
    this.#timer?.stop()
    this.#timer = undefined
    return this.#takeUntil(Infinity)
  }

  /** Takes the keys that came at this instant at the latest. */
  #takeUntil(instant: number): HeldKey<unknown>[] {
    const taken = this.#claims.filter(({ since }) => since <= instant)
    this.#claims = this.#claims.slice(taken.length)
    const helds = taken.flatMap(({ helds: all, at }) => all.slice(at))
    this.size -= helds.length
    return helds
  }

  #watch(): void {
    const oldest = this.#claims[0]
    if (this.#timer !== undefined || oldest === undefined) return
    const clock = this.#clock()
    const ms = oldest.since + this.#keepMs() - clock.monotonicMs()
    this.#timer = clock.startTimer(ms, () => {
      this.#timer = undefined
      const unused = this.#takeUntil(clock.monotonicMs() + instantSlackMs - this.#keepMs())
      for (const held of unused) this.#giveBack(held)
      this.#watch()
    })
  }
}
