import type { Machine } from './machine.ts'

/** How close together hints of one queue are sent to other processes, in milliseconds. */
const restMs = 10

/**
 * Tells others that something may have become claimable: whoever watches through this driver at
 * once, and other processes by `send`, one statement for however many changes came together.
 */
export class WakeBell {
  readonly #machine: Machine
  readonly #send: (queue: string) => Promise<void>
  readonly #watchers = new Set<(queue: string | undefined) => void>()
  /** Queues that were told of lately; true if there has been something new since. */
  readonly #resting = new Map<string, boolean>()

  constructor(machine: Machine, send: (queue: string) => Promise<void>) {
    this.#machine = machine
    this.#send = send
  }

  /** From now on `watcher` is told. Returns how to stop. */
  watch(watcher: (queue: string | undefined) => void): () => void {
    // An object of its own, so that one function may watch twice.
    const mine = (queue: string | undefined): void => watcher(queue)
    this.#watchers.add(mine)
    return () => {
      this.#watchers.delete(mine)
    }
  }

  /** Something may have become claimable in this process. */
  ring(queue: string): void {
    queueMicrotask(() => this.hear(queue))
    if (this.#resting.has(queue)) {
      this.#resting.set(queue, true)
      return
    }
    this.#resting.set(queue, false)
    void this.#tell(queue)
  }

  /** A hint came from elsewhere. */
  hear(queue: string | undefined): void {
    for (const watcher of this.#watchers) watcher(queue)
  }

  async #tell(queue: string): Promise<void> {
    // A hint that is lost is made good by polling.
    await this.#send(queue).catch(() => {})
    this.#machine.clock.startTimer(restMs, () => {
      const hasMore = this.#resting.get(queue) === true
      this.#resting.delete(queue)
      if (!hasMore) return
      this.#resting.set(queue, false)
      void this.#tell(queue)
    })
  }
}
