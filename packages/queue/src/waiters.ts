import type { HeldKey, HeldPolicy } from './held-key.ts'

/** Somebody who waits for keys. */
export class Waiter {
  /** How many keys at the most. */
  readonly limit: number
  readonly policy: HeldPolicy
  readonly #resolve: (helds: HeldKey<unknown>[]) => void
  readonly #reject: (error: unknown) => void
  readonly #signal: AbortSignal | undefined
  #onAbort: (() => void) | undefined

  constructor(
    limit: number,
    policy: HeldPolicy,
    signal: AbortSignal | undefined,
    resolve: (helds: HeldKey<unknown>[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.limit = limit
    this.policy = policy
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Calls `onAbort` when the waiter gives up; not once it was answered. */
  listen(onAbort: () => void): void {
    this.#onAbort = onAbort
    this.#signal?.addEventListener('abort', onAbort, { once: true })
  }

  #unlisten(): void {
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort)
  }

  get isAborted(): boolean {
    return this.#signal?.aborted === true
  }

  /** Hands keys over; none means that the queue has ended. */
  answer(helds: HeldKey<unknown>[]): void {
    this.#unlisten()
    this.#resolve(helds)
  }

  fail(error: unknown): void {
    this.#unlisten()
    this.#reject(error)
  }

  /** Rejects with the reason of the signal. */
  giveUp(): void {
    this.fail(this.#signal?.reason)
  }
}

/** Those who wait for keys, first come first served. */
export class Waiters {
  readonly #waiting = new Set<Waiter>()
  /** Those who had their turn already and go first, because what they got was no good. */
  readonly #again = new Set<Waiter>()
  /** How many keys could be handed out at once. */
  demand = 0

  get size(): number {
    return this.#waiting.size + this.#again.size
  }

  add(waiter: Waiter): void {
    this.#waiting.add(waiter)
    this.demand += waiter.limit
  }

  addFirst(waiter: Waiter): void {
    this.#again.add(waiter)
    this.demand += waiter.limit
  }

  /** Takes out a waiter; false if it is not there any more. */
  remove(waiter: Waiter): boolean {
    if (!this.#waiting.delete(waiter) && !this.#again.delete(waiter)) return false
    this.demand -= waiter.limit
    return true
  }

  first(): Waiter | undefined {
    for (const waiter of this.#again) return waiter
    for (const waiter of this.#waiting) return waiter
    return undefined
  }

  /** Takes out everybody. */
  takeAll(): Waiter[] {
    const all = [...this.#again, ...this.#waiting]
    this.#again.clear()
    this.#waiting.clear()
    this.demand = 0
    return all
  }
}
