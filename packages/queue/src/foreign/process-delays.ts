import {
  type AddOutcome,
  type Clock,
  decodeItem,
  delayMsMax,
  encodeItem,
  type KeyOf,
  priorityDefault,
  type Timer,
} from '@sluice/core'

/**
 * An add that waits in this process. Its times are monotonic, as its timer is: a step of the wall clock
 * must not make a later add look earlier.
 */
interface Waiting {
  readonly timer: Timer
  readonly askedAtMs: number
  dueAtMs: number
  text: string | undefined
  priority: number | undefined
}

/** The queue of the delays. */
export interface ProcessDelaysOptions<T> {
  readonly clock: Clock
  readonly keyOf: KeyOf<T> | undefined
  /** Whether waiting callers keep the process alive. */
  readonly ref: boolean
  /** The time of an item has come. */
  readonly add: (item: T, priority: number | undefined) => void
}

/** Delayed adds in this process, by the rules of delayed adds in a store. */
export class ProcessDelays<T> {
  readonly #options: ProcessDelaysOptions<T>
  readonly #waiting = new Map<string, Waiting>()
  /** How many callers wait for a key. */
  #callers = 0
  /** Keeps the process alive while it runs. */
  #alive: Timer | undefined

  constructor(options: ProcessDelaysOptions<T>) {
    this.#options = options
  }

  /** Adds in `delayMs`, which is above zero. With `maxWaitMs` a later time wins. */
  ask(
    item: T,
    delayMs: number,
    priority: number | undefined,
    maxWaitMs: number | undefined,
  ): AddOutcome {
    const { clock, keyOf } = this.#options
    // Encoded now, so that later changes by the caller do not matter.
    const { key, text } = encodeItem(item, { keyOf })
    const askedAtMs = clock.monotonicMs()
    const dueAtMs = askedAtMs + delayMs
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) {
      const timer = clock.startTimer(delayMs, () => this.#fire(key))
      this.#waiting.set(key, { timer, askedAtMs, dueAtMs, text, priority })
      this.#setAlive()
      return 'added'
    }
    waiting.text = text
    const isHigher = (priority ?? priorityDefault) > (waiting.priority ?? priorityDefault)
    if (isHigher) waiting.priority = priority
    const best =
      maxWaitMs === undefined
        ? Math.min(waiting.dueAtMs, dueAtMs)
        : Math.max(waiting.dueAtMs, Math.min(dueAtMs, waiting.askedAtMs + maxWaitMs))
    if (best === waiting.dueAtMs) return isHigher ? 'moved' : 'unchanged'
    waiting.dueAtMs = best
    waiting.timer.reset(best - askedAtMs)
    return 'moved'
  }

  #fire(key: string): void {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    this.#waiting.delete(key)
    this.#setAlive()
    this.#options.add(decodeItem(key, waiting.text) as T, waiting.priority)
  }

  /** Cancels the delayed adds of a key; whether there were any. */
  cancel(key: string): boolean {
    this.#waiting.get(key)?.timer.stop()
    const had = this.#waiting.delete(key)
    this.#setAlive()
    return had
  }

  /** Drops everything. */
  clear(): void {
    for (const { timer } of this.#waiting.values()) timer.stop()
    this.#waiting.clear()
    this.#setAlive()
  }

  /** Counts a caller that waits for a key, until that is there. */
  async during<R>(waiting: Promise<R>): Promise<R> {
    this.#callers += 1
    this.#setAlive()
    try {
      return await waiting
    } finally {
      this.#callers -= 1
      this.#setAlive()
    }
  }

  /** While a caller waits, the process must not end before the delays that it may wait for. */
  #setAlive(): void {
    if (this.#options.ref && this.#callers > 0 && this.#waiting.size > 0) {
      if (this.#alive !== undefined) return
      this.#alive = this.#options.clock.startTimer(delayMsMax, () => undefined)
      this.#alive.ref()
    } else {
      this.#alive?.stop()
      this.#alive = undefined
    }
  }
}
