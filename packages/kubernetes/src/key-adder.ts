import { type Clock, SluiceError, type Timer } from '@sluice/core'

/** How many keys one call adds. */
const batchMax = 1_000

/** How long to wait after a call that failed, at first and at most, in milliseconds. */
const pauseMs = { first: 500, longest: 30_000 }

/** A queue that keys are added to; those of other libraries may have no `addMany`. */
export interface AddingQueue {
  addSoon(item: string): void
  addMany?(items: readonly string[]): Promise<unknown>
}

/** A call that may have had an effect is repeated too: the keys that it added are merged. */
function mayRepeat(error: unknown): boolean {
  return SluiceError.is(error) && (error.retryable || error.code === 'ERR_UNKNOWN_OUTCOME')
}

/**
 * Adds the keys of events. An informer calls back for every object of a list at once, and `addSoon` drops what
 * exceeds 10,000 keys: here any number waits, since all of their objects are in the cache anyway.
 */
export class KeyAdder {
  readonly #queue: AddingQueue
  readonly #clock: Clock
  readonly #report: (error: unknown) => void
  readonly #waiting = new Set<string>()
  #adding: Promise<void> | undefined
  #isStopped = false
  #failures = 0
  #pause: Timer | undefined

  constructor(queue: AddingQueue, clock: Clock, report: (error: unknown) => void) {
    this.#queue = queue
    this.#clock = clock
    this.#report = report
  }

  add(keys: Iterable<string>): void {
    for (const key of keys) this.#waiting.add(key)
    this.#start()
  }

  /**
   * Resolves when the queue has every key, so that none is lost if it is closed then. What a store does not
   * take is left to `addSoon`, which the queue flushes when it is closed.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#pause !== undefined) {
      this.#pause.stop()
      this.#leave()
    }
    await this.#adding
  }

  #start(): void {
    if (this.#waiting.size > 0 && this.#pause === undefined) this.#adding ??= this.#addAll()
  }

  async #addAll(): Promise<void> {
    while (this.#waiting.size > 0 && this.#pause === undefined) await this.#addBatch()
    this.#adding = undefined
  }

  async #addBatch(): Promise<void> {
    const batch = [...this.#waiting].slice(0, batchMax)
    for (const key of batch) this.#waiting.delete(key)
    try {
      if (this.#queue.addMany === undefined) this.#addSoon(batch)
      else await this.#queue.addMany(batch)
      this.#failures = 0
    } catch (error) {
      if (!mayRepeat(error)) {
        this.#addSoon(batch)
        return
      }
      for (const key of batch) this.#waiting.add(key)
      this.#report(error)
      if (this.#isStopped) this.#leave()
      else this.#startPause()
    }
  }

  #startPause(): void {
    const ms = Math.min(pauseMs.first * 2 ** this.#failures, pauseMs.longest)
    this.#failures += 1
    this.#pause = this.#clock.startTimer(ms, () => {
      this.#pause = undefined
      this.#start()
    })
    // As with `addSoon`, a process does not end while keys wait to be stored.
    this.#pause.ref()
  }

  #leave(): void {
    this.#addSoon(this.#waiting)
    this.#waiting.clear()
  }

  #addSoon(keys: Iterable<string>): void {
    for (const key of keys) {
      try {
        this.#queue.addSoon(key)
      } catch (error) {
        // Ours never throws. One around it may, for a key: the others are added.
        this.#report(error)
      }
    }
  }
}
