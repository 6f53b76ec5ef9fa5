import type { Timer } from '@sluice/core'
import { hintOf } from './listener.ts'
import type { Machine } from './machine.ts'

/** How close together hints of one queue are sent to other processes, in milliseconds. */
const restMs = 10

/** What a statement tells other processes when it commits. */
export interface Hint {
  readonly channel: string
  readonly payload: string
}

/** How a bell reaches other processes. */
export interface WakeBellUse {
  readonly machine: Machine
  readonly channel: string
  /** Sends a payload on the channel by a statement of its own. */
  readonly send: (payload: string) => Promise<void>
  /** Whether other processes are told at all. */
  readonly isHeard: boolean
}

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
  readonly #use: WakeBellUse
  readonly #watchers = new Set<(queue: string | undefined) => void>()
  readonly #resting = new Map<string, Rest>()
  #mayTakeAlong: boolean

  constructor(use: WakeBellUse) {
    this.#use = use
    this.#mayTakeAlong = use.isHeard
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
      // A process that ends by itself tells what it has left to tell.
      rest.timer.ref()
      return
    }
    this.#rest(queue)
    void this.#tell(queue)
  }

  /** Something may have become claimable, and other processes know. */
  ringHere(queue: string): void {
    queueMicrotask(() => this.hear(queue))
  }

  /**
   * What a change that is about to be made tells other processes by itself; nothing if they were
   * told lately. What rings meanwhile is told of later, whatever becomes of the change.
   */
  takeAlong(queue: string): Hint | undefined {
    if (!this.#mayTakeAlong || this.#resting.has(queue)) return undefined
    this.#rest(queue)
    return { channel: this.#use.channel, payload: hintOf(queue) }
  }

  /** From now on, no change tells by itself: the server will not have it. */
  takeNothingAlong(): void {
    this.#mayTakeAlong = false
  }

  /** Tells at once of what was to be told of later. */
  async tellAll(): Promise<void> {
    const late = [...this.#resting].filter(([, { hasMore }]) => hasMore)
    for (const { timer } of this.#resting.values()) timer.stop()
    this.#resting.clear()
    await Promise.all(late.map(([queue]) => this.#tell(queue)))
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
    const timer = this.#use.machine.clock.startTimer(restMs, () => {
      const hasMore = this.#resting.get(queue)?.hasMore === true
      this.#resting.delete(queue)
      if (!hasMore) return
      this.#rest(queue)
      void this.#tell(queue)
    })
    this.#resting.set(queue, { timer, hasMore: false })
  }

  async #tell(queue: string): Promise<void> {
    // A hint that is lost is made good by polling.
    const { isHeard, send } = this.#use
    if (isHeard) await send(hintOf(queue)).catch(() => {})
  }
}
