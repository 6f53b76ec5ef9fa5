import type { Ticker } from '@sluice/core'
import type { Clock } from '@sluice/core/driver'

/** How often to look for commits of other processes, in milliseconds. */
const lookMs = 5

/** The same after a quiet period. */
const lookQuietMs = 50

/** How long that period is, in milliseconds. */
const quietAfterMs = 60_000

type OnWake = (queue: string | undefined) => void

/** Numbers that can be read without a transaction; `undefined` without a connection. */
export interface WatchedStore {
  /** Changes when another connection has committed. */
  version(): number | undefined
  /** The last position in the order, which rises with every change of a key or a queue. */
  last(): number | undefined
}

/**
 * Calls watchers when a key may have become claimable: immediately for changes of this process, and
 * within a few milliseconds for changes of other processes.
 *
 * SQLite has no notifications. It has a number that changes when another connection has committed,
 * and reading it takes a few microseconds; so it is polled, and less often after a quiet minute.
 * The commits of an idle process are heartbeats, so a second number, which is stored in the file,
 * decides whether the watchers are called. It tells neither which queue has changed nor how; the
 * watchers look.
 */
export class WakeSignal {
  readonly #clock: Clock
  readonly #store: WatchedStore
  readonly #watchers = new Set<OnWake>()
  readonly #announced = new Set<string | undefined>()
  #ticker: Ticker | undefined
  #tickerMs = 0
  /** `undefined`: not known; changes in the meantime show as more work later. */
  #lastVersion: number | undefined
  #lastPosition: number | undefined
  /** Whether a transaction of the caller, whose end is not reported, is still open. */
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
      if (this.#watchers.size === 0) this.#stop()
    }
  }

  /** This process has made a change that its watchers may wait for. */
  announce(queue: string | undefined): void {
    if (this.#watchers.size === 0) return
    this.#changed()
    if (this.#announced.has(queue)) return
    this.#announced.add(queue)
    if (this.#announced.size > 1) return
    // After the caller has its reply.
    queueMicrotask(() => {
      const announced = [...this.#announced]
      this.#announced.clear()
      for (const name of announced) this.#wake(name)
    })
  }

  /**
   * A transaction of the caller has made a change on this connection. No number changes when it
   * commits, so the watchers are called after its end.
   */
  announceAfter(isPending: () => boolean): void {
    if (this.#watchers.size === 0) return
    this.#isPending = isPending
    this.#changed()
  }

  /** The connection was closed; the versions of the next one start at another number. */
  connectionLost(): void {
    this.#lastVersion = undefined
  }

  #stop(): void {
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
      this.#changed()
      this.#wake(undefined)
    } else if (
      this.#tickerMs === lookMs &&
      this.#clock.monotonicMs() - this.#lastChangeMs >= quietAfterMs
    ) {
      this.#tickEvery(lookQuietMs)
    }
  }

  #changed(): void {
    this.#lastChangeMs = this.#clock.monotonicMs()
    if (this.#tickerMs === lookQuietMs && this.#ticker !== undefined) this.#tickEvery(lookMs)
  }

  /** Whether another process has done work since the last look. */
  #hasMoreWork(): boolean {
    try {
      const version = this.#store.version()
      if (version === undefined || version === this.#lastVersion) return false
      const last = this.#store.last()
      if (last === undefined) return false
      this.#lastVersion = version
      if (last === this.#lastPosition) return false
      this.#lastPosition = last
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
