import type { Ticker } from '@sluice/core'
import type { Clock } from '@sluice/core/driver'

/** How often to look for what other processes have done, in milliseconds. */
const lookMs = 5

/** The same after a while in which nothing happened. */
const lookQuietMs = 50

/** How long that while is. */
const quietAfterMs = 60_000

type OnWake = (queue: string | undefined) => void

/** What can be read of a store without a transaction; `undefined` without a connection. */
export interface WatchedStore {
  /** Changes when another connection has committed. */
  version(): number | undefined
  /** Rises when a transaction may have made a key claimable, now or later. */
  work(): number | undefined
}

/**
 * Tells whoever waits that something may have become claimable: at once of what this process did,
 * and within a few milliseconds of what others did.
 *
 * SQLite has no notifications. It has a number that changes when another connection has committed,
 * and reading it costs a few microseconds; so it is read again and again, and less often once
 * nothing has happened for a minute. The commits of an idle process are heartbeats, so a second
 * number, which the file keeps, decides whether the watchers are called. It says neither which
 * queue has changed nor how; the watchers look for themselves.
 */
export class WakeSignal {
  readonly #clock: Clock
  readonly #store: WatchedStore
  readonly #watchers = new Set<OnWake>()
  readonly #announced = new Set<string | undefined>()
  #ticker: Ticker | undefined
  #tickerMs = 0
  /** `undefined`: nothing is known, and what happened meanwhile shows as more work later. */
  #lastVersion: number | undefined
  #lastWork: number | undefined
  /** Whether a transaction that nobody here is told the end of still goes on. */
  #isPending: (() => boolean) | undefined
  #lastChangeMs = 0

  constructor(clock: Clock, store: WatchedStore) {
    this.#clock = clock
    this.#store = store
  }

  /** Calls `onWake` from now on, until what it returns is called. */
  watch(onWake: OnWake): () => void {
    const watcher: OnWake = (queue) => onWake(queue)
    this.#watchers.add(watcher)
    if (this.#watchers.size === 1) this.#start()
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) this.stop()
    }
  }

  /** Something was done in this process that others here may wait for. */
  announce(queue: string | undefined): void {
    if (this.#watchers.size === 0) return
    this.#stirred()
    if (this.#announced.has(queue)) return
    this.#announced.add(queue)
    if (this.#announced.size > 1) return
    // Not before whoever did it has its answer.
    queueMicrotask(() => {
      const announced = [...this.#announced]
      this.#announced.clear()
      for (const name of announced) this.#wake(name)
    })
  }

  /**
   * Something was done on the connection itself in a transaction of somebody else's. No number
   * changes when it commits, so those who wait are woken once it is over.
   */
  announceAfter(isPending: () => boolean): void {
    if (this.#watchers.size === 0) return
    this.#isPending = isPending
    this.#stirred()
  }

  /** The connection was given up; the versions of the next one count from another number. */
  connectionLost(): void {
    this.#lastVersion = undefined
  }

  stop(): void {
    this.#isPending = undefined
    this.#ticker?.stop()
    this.#ticker = undefined
    this.#watchers.clear()
  }

  #start(): void {
    this.#hasMoreWork()
    this.#lastChangeMs = this.#clock.monotonicMs()
    this.#tickEvery(lookMs)
  }

  #tickEvery(ms: number): void {
    this.#ticker?.stop()
    this.#tickerMs = ms
    this.#ticker = this.#clock.startTicker(ms, () => this.#look())
  }

  #look(): void {
    const hasMoreWork = this.#hasMoreWork()
    const isOver = this.#isPending?.() === false
    if (isOver) this.#isPending = undefined
    if (isOver || hasMoreWork) {
      this.#stirred()
      this.#wake(undefined)
    } else if (
      this.#tickerMs === lookMs &&
      this.#clock.monotonicMs() - this.#lastChangeMs >= quietAfterMs
    ) {
      this.#tickEvery(lookQuietMs)
    }
  }

  #stirred(): void {
    this.#lastChangeMs = this.#clock.monotonicMs()
    if (this.#tickerMs === lookQuietMs && this.#ticker !== undefined) this.#tickEvery(lookMs)
  }

  /** Whether another process has done work since the last look, as far as can be seen. */
  #hasMoreWork(): boolean {
    try {
      const version = this.#store.version()
      if (version === undefined || version === this.#lastVersion) return false
      const work = this.#store.work()
      if (work === undefined) return false
      this.#lastVersion = version
      if (work === this.#lastWork) return false
      this.#lastWork = work
      return true
    } catch {
      // If the store cannot be read, the next operation reports why.
      return false
    }
  }

  #wake(queue: string | undefined): void {
    for (const watcher of [...this.#watchers]) watcher(queue)
  }
}
