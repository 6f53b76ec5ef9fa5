/** Told that something of the queue may have become claimable. */
export type WakeListener = (queue: string | undefined) => void

/**
 * Tells listeners that something may have become claimable: once per queue, when the code that runs
 * now has ended, however often the bell was rung meanwhile.
 */
export class WakeBell {
  readonly #listeners: Set<WakeListener> = new Set()
  #rung: Set<string> = new Set()
  /** Whether anyone listens: ring only then. */
  isWatched = false

  /** Returns how to stop listening. */
  listen(listener: WakeListener): () => void {
    // Wrapped, so that one who listens twice is told twice, and stops one by one.
    const own: WakeListener = (queue) => listener(queue)
    this.#listeners.add(own)
    this.isWatched = true
    return () => {
      this.#listeners.delete(own)
      this.isWatched = this.#listeners.size > 0
    }
  }

  ring(queue: string): void {
    if (this.#rung.size === 0) queueMicrotask(this.#tell)
    this.#rung.add(queue)
  }

  /** Forgets all listeners. */
  silence(): void {
    this.#listeners.clear()
    this.isWatched = false
  }

  readonly #tell = (): void => {
    const rung = this.#rung
    this.#rung = new Set()
    for (const queue of rung) for (const listener of this.#listeners) listener(queue)
  }
}
