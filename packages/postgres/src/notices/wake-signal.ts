import { type Failure, SluiceError, type Timer } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { noticeOf } from './listener.ts'

/** The least time between two notices of one queue, in milliseconds. */
const gapMs = 10

/** For how long changes carry no notice after a notice made one fail or wait, in milliseconds. */
const suspendedMs = 30_000

/** A notice that a statement sends to other processes when it commits. */
export interface Notice {
  readonly channel: string
  readonly payload: string
}

/** How a wake signal reaches other processes. */
export interface WakeSignalUse {
  readonly environment: Environment
  readonly channel: string
  /** Sends a payload on the channel by a statement of its own. */
  readonly send: (payload: string) => Promise<void>
  /** Whether notices are sent to other processes at all. */
  readonly sendsNotices: boolean
}

/** The time after a notice of a queue in which no other one is sent. */
interface Gap {
  readonly timer: Timer
  /** Whether there has been another change since the notice. */
  hasMore: boolean
}

/**
 * Wakes workers because keys may have become ready: those of this driver at once, and other processes
 * by a notice, one for all changes that come together. The statement of the first change after a pause
 * may carry the notice; changes that follow closely are announced by a statement of their own.
 */
export class WakeSignal {
  readonly #use: WakeSignalUse
  readonly #watchers = new Set<(queue: string | undefined) => void>()
  readonly #gaps = new Map<string, Gap>()
  readonly #sending = new Set<Promise<void>>()
  /** Runs while changes carry no notice. */
  #suspended: Timer | undefined

  constructor(use: WakeSignalUse) {
    this.#use = use
  }

  /** From now on `watcher` is called. Returns a function that ends that. */
  watch(watcher: (queue: string | undefined) => void): () => void {
    // An object of its own, so that one function may watch twice.
    const mine = (queue: string | undefined): void => watcher(queue)
    this.#watchers.add(mine)
    return () => {
      this.#watchers.delete(mine)
    }
  }

  /** Keys of the queue may have become ready. */
  wake(queue: string): void {
    this.wakeHere(queue)
    const gap = this.#gaps.get(queue)
    if (gap !== undefined) {
      gap.hasMore = true
      // A process that has nothing else to do stays until the notice is sent.
      gap.timer.ref()
      return
    }
    this.#openGap(queue)
    this.#send(queue)
  }

  /**
   * Awaits a change that may make keys ready. If its outcome is unknown, wakes after `onUnknown`: the
   * change may have taken effect, and then its repetition reports that nothing has changed.
   */
  async wakeIfUnknown<Reply extends object | string>(
    queue: string,
    change: Promise<readonly (Reply | Failure)[]>,
    onUnknown?: () => void,
  ): Promise<readonly (Reply | Failure)[]> {
    const isUnknown = (error: unknown): boolean => SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')
    const wakeAnyway = (): void => {
      onUnknown?.()
      this.wake(queue)
    }
    try {
      const replies = await change
      const isOfReply = (reply: Reply | Failure): boolean =>
        typeof reply === 'object' && 'error' in reply && isUnknown(reply.error)
      if (replies.some(isOfReply)) wakeAnyway()
      return replies
    } catch (error) {
      if (isUnknown(error)) wakeAnyway()
      throw error
    }
  }

  /** Keys of the queue may have become ready, and other processes know. */
  wakeHere(queue: string): void {
    queueMicrotask(() => this.wakeWatchers(queue))
  }

  /**
   * The notice that the statement of a change is to carry; none if one was sent lately. Changes in the
   * meantime are announced later, whether this one succeeds or not.
   */
  takeNotice(queue: string): Notice | undefined {
    const { sendsNotices, channel } = this.#use
    if (!sendsNotices || this.#suspended !== undefined || this.#gaps.has(queue)) return undefined
    this.#openGap(queue)
    return { channel, payload: noticeOf(queue) }
  }

  /** For a while changes carry no notice: the server refused the notice, or made its change wait. */
  suspendNotices(): void {
    this.#suspended?.stop()
    this.#suspended = this.#use.environment.clock.startTimer(suspendedMs, () => {
      this.#suspended = undefined
    })
  }

  /** Sends at once what was to be sent later. Resolves when nothing is left to send. */
  async flush(): Promise<void> {
    this.#suspended?.stop()
    do {
      const gaps = [...this.#gaps]
      this.#gaps.clear()
      for (const [queue, { timer, hasMore }] of gaps) {
        timer.stop()
        if (hasMore) this.#send(queue)
      }
      await Promise.all(this.#sending)
    } while (this.#gaps.size > 0)
  }

  /** The change that was to carry a notice has changed nothing. */
  returnNotice(queue: string): void {
    const gap = this.#gaps.get(queue)
    if (gap === undefined || gap.hasMore) return
    gap.timer.stop()
    this.#gaps.delete(queue)
  }

  /** Calls the watchers; without a queue, keys of any queue may have become ready. */
  wakeWatchers(queue: string | undefined): void {
    for (const watcher of this.#watchers) watcher(queue)
  }

  #openGap(queue: string): void {
    const timer = this.#use.environment.clock.startTimer(gapMs, () => {
      const hasMore = this.#gaps.get(queue)?.hasMore === true
      this.#gaps.delete(queue)
      if (!hasMore) return
      this.#openGap(queue)
      this.#send(queue)
    })
    this.#gaps.set(queue, { timer, hasMore: false })
  }

  #send(queue: string): void {
    const { sendsNotices, send } = this.#use
    if (!sendsNotices) return
    // If a notice is lost, polling finds the keys.
    const sending = send(noticeOf(queue))
      .catch(() => {})
      .finally(() => this.#sending.delete(sending))
    this.#sending.add(sending)
  }
}
