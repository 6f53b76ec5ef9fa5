/** Called when a key of the queue may have become claimable. */
export type OnWake = (queue: string | undefined) => void

/**
 * Calls watchers when a key may have become claimable: once per queue, after the code that runs now
 * has ended, however many changes it has announced.
 */
export class WakeSignal {
  readonly #watchers: Set<OnWake> = new Set()
  #announced: Set<string> = new Set()
  /** Whether there are watchers: announce only then. */
  isWatched = false

  /** Calls `onWake` from now on, until the function that it returns is called. */
  watch(onWake: OnWake): () => void {
    // Wrapped, so that a function that is given twice is called twice, and stops one by one.
    const watcher: OnWake = (queue) => onWake(queue)
    this.#watchers.add(watcher)
    this.isWatched = true
    return () => {
      this.#watchers.delete(watcher)
      this.isWatched = this.#watchers.size > 0
    }
  }

  /** A key of the queue may have become claimable. */
  announce(queue: string): void {
    if (this.#announced.size === 0) queueMicrotask(this.#wake)
    this.#announced.add(queue)
  }

  /** Drops all watchers. */
  stop(): void {
    this.#watchers.clear()
    this.isWatched = false
  }

  readonly #wake = (): void => {
    const announced = this.#announced
    this.#announced = new Set()
    for (const queue of announced) for (const watcher of this.#watchers) watcher(queue)
  }
}
