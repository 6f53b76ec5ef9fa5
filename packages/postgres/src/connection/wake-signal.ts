import { type Failure, SluiceError, type Timer } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { noticeOf } from './listener.ts'

/** How close together notices of one queue are sent to other processes, in milliseconds. */
const restMs = 10

/** For how long no change takes a notice along after one that could not, in milliseconds. */
const aloneMs = 30_000

/** What a statement tells other processes when it commits. */
export interface Notice {
  readonly channel: string
  readonly payload: string
}

/** How a bell reaches other processes. */
export interface WakeSignalUse {
  readonly environment: Environment
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
 * once, and other processes by a notice, one for however many changes came together. The first change
 * after a while may take the notice along; what follows closely is told of by a statement of its own.
 */
export class WakeSignal {
  readonly #use: WakeSignalUse
  readonly #watchers = new Set<(queue: string | undefined) => void>()
  readonly #resting = new Map<string, Rest>()
  readonly #telling = new Set<Promise<void>>()
  /** Runs while no change takes a notice along. */
  #alone: Timer | undefined

  constructor(use: WakeSignalUse) {
    this.#use = use
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
  wake(queue: string): void {
    this.wakeHere(queue)
    const rest = this.#resting.get(queue)
    if (rest !== undefined) {
      rest.hasMore = true
      // A process that ends by itself tells what it has left to tell.
      rest.timer.ref()
      return
    }
    this.#rest(queue)
    this.#tell(queue)
  }

  /**
   * Awaits a change that may make something claimable. If nobody knows what became of it, rings, after
   * `onUnknown`: whoever repeats what was done after all will be told that nothing has changed.
   */
  async wakeIfUnknown<Reply extends object | string>(
    queue: string,
    change: Promise<readonly (Reply | Failure)[]>,
    onUnknown?: () => void,
  ): Promise<readonly (Reply | Failure)[]> {
    const isUnknown = (error: unknown): boolean => SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')
    const tell = (): void => {
      onUnknown?.()
      this.wake(queue)
    }
    try {
      const replies = await change
      const isOfReply = (reply: Reply | Failure): boolean =>
        typeof reply === 'object' && 'error' in reply && isUnknown(reply.error)
      if (replies.some(isOfReply)) tell()
      return replies
    } catch (error) {
      if (isUnknown(error)) tell()
      throw error
    }
  }

  /** Something may have become claimable, and other processes know. */
  wakeHere(queue: string): void {
    queueMicrotask(() => this.hear(queue))
  }

  /**
   * What a change that is about to be made tells other processes by itself; nothing if they were
   * told lately. What rings meanwhile is told of later, whatever becomes of the change.
   */
  takeNotice(queue: string): Notice | undefined {
    const { isHeard, channel } = this.#use
    if (!isHeard || this.#alone !== undefined || this.#resting.has(queue)) return undefined
    this.#rest(queue)
    return { channel, payload: noticeOf(queue) }
  }

  /** For a while no change tells by itself: the server would not have it, or kept it waiting. */
  suspendNotices(): void {
    this.#alone?.stop()
    this.#alone = this.#use.environment.clock.startTimer(aloneMs, () => {
      this.#alone = undefined
    })
  }

  /** Tells at once of what was to be told of later. Resolves when nothing is left to tell. */
  async flush(): Promise<void> {
    this.#alone?.stop()
    do {
      const resting = [...this.#resting]
      this.#resting.clear()
      for (const [queue, { timer, hasMore }] of resting) {
        timer.stop()
        if (hasMore) this.#tell(queue)
      }
      await Promise.all(this.#telling)
    } while (this.#resting.size > 0)
  }

  /** A change that was to take the notice along has come to nothing. */
  leave(queue: string): void {
    const rest = this.#resting.get(queue)
    if (rest === undefined || rest.hasMore) return
    rest.timer.stop()
    this.#resting.delete(queue)
  }

  /** A notice came from elsewhere. */
  hear(queue: string | undefined): void {
    for (const watcher of this.#watchers) watcher(queue)
  }

  #rest(queue: string): void {
    const timer = this.#use.environment.clock.startTimer(restMs, () => {
      const hasMore = this.#resting.get(queue)?.hasMore === true
      this.#resting.delete(queue)
      if (!hasMore) return
      this.#rest(queue)
      this.#tell(queue)
    })
    this.#resting.set(queue, { timer, hasMore: false })
  }

  #tell(queue: string): void {
    const { isHeard, send } = this.#use
    if (!isHeard) return
    // A notice that is lost is made good by polling.
    const telling = send(noticeOf(queue))
      .catch(() => {})
      .finally(() => this.#telling.delete(telling))
    this.#telling.add(telling)
  }
}
