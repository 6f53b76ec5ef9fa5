import type { Timer } from '@sluice/core'
import type { Machine } from './machine.ts'

/** How close together hints of one queue are sent to other processes, in milliseconds. */
const restMs = 10

/** What a queue that was told of lately waits for. */
interface Rest {
  readonly timer: Timer
  /** There has been something new since. */
  hasMore: boolean
}

/**
 * Tells others that something may have become claimable: whoever watches through this driver at
 * once, and other processes by a hint, one for however many changes came together. The first change
 * after a while may take the hint along; what follows closely is told of by a statement of its own.
 */
export class WakeBell {
  readonly #machine: Machine
  readonly #send: (queue: string) => Promise<void>
  readonly #watchers = new Set<(queue: string | undefined) => void>()
  readonly #resting = new Map<string, Rest>()

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

  /** Something may have become claimable. */
  ring(queue: string): void {
    this.ringHere(queue)
    const rest = this.#resting.get(queue)
    if (rest !== undefined) {
      rest.hasMore = true
      return
    }
    this.#rest(queue)
    this.#tell(queue)
  }

  /** Something may have become claimable, and other processes know. */
  ringHere(queue: string): void {
    queueMicrotask(() => this.hear(queue))
  }

  /**
   * Whether a change that is about to be made should tell other processes by itself; not if they
   * were told lately. What rings meanwhile is told of later, whatever becomes of the change.
   */
  takesAlong(queue: string): boolean {
    if (this.#resting.has(queue)) return false
    this.#rest(queue)
    return true
  }

  /** A change that was to take the hint along has come to nothing. */
  leave(queue: string): void {
    const rest = this.#resting.get(queue)
    if (rest === undefined || rest.hasMore) return
    rest.timer.stop()
    this.#resting.delete(queue)
  }

  /** A hint came from elsewhere. */
  hear(queue: string | undefined): void {
    for (const watcher of this.#watchers) watcher(queue)
  }

  #rest(queue: string): void {
    const timer = this.#machine.clock.startTimer(restMs, () => {
      const hasMore = this.#resting.get(queue)?.hasMore === true
      this.#resting.delete(queue)
      if (!hasMore) return
      this.#rest(queue)
      this.#tell(queue)
    })
    this.#resting.set(queue, { timer, hasMore: false })
  }

  #tell(queue: string): void {
    // A hint that is lost is made good by polling.
    this.#send(queue).catch(() => {})
  }
}
