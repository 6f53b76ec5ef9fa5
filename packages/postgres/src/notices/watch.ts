import { heartbeatMs, type Timer } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { Listener, type ListenerUse } from './listener.ts'
import type { WakeSignal } from './wake-signal.ts'

/** How long the first watcher waits for notices to be proven, in milliseconds. */
const startMs = 2_000

/** The dependencies of a watch. */
export interface WatchUse {
  readonly environment: Environment
  readonly wakeSignal: WakeSignal
  /** How often watchers are called without a notice while notices do not arrive, in milliseconds. */
  readonly pollMs: number
  /** How notices of other processes are received; false or undefined if they cannot be. */
  readonly listener: ListenerUse | false | undefined
  /** Whether notices arrive without a connection that listens: on PGlite, one has arrived. */
  readonly hears: () => boolean
}

/**
 * Wakes the workers that watch: at once after a change through this driver, soon after a notice of
 * another process, and by the clock while notices have not been proven to arrive.
 */
export class Watch {
  readonly #use: WatchUse
  /** The connection that listens, while there is one. */
  listener: Listener | undefined
  #started: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #watchers = 0

  constructor(use: WatchUse) {
    this.#use = use
  }

  /** Whether notices of other drivers have been proven to arrive. */
  get isProven(): boolean {
    return this.listener?.isProven ?? this.#use.hears()
  }

  /** From now on `onWake` is called. Returns a function that ends that. */
  async watch(onWake: (queue: string | undefined) => void): Promise<() => Promise<void>> {
    const unwatch = this.#use.wakeSignal.watch(onWake)
    this.#watchers += 1
    if (this.#watchers === 1) this.#begin()
    await this.#started
    let isWatching = true
    return async () => {
      if (!isWatching) return
      isWatching = false
      unwatch()
      this.#watchers -= 1
      if (this.#watchers === 0) await this.stop()
    }
  }

  /** Stops listening and polling. */
  async stop(): Promise<void> {
    this.#timer?.stop()
    this.#timer = undefined
    const listener = this.listener
    this.listener = undefined
    await listener?.stop()
  }

  #begin(): void {
    this.#poll()
    const { listener } = this.#use
    if (!listener) return
    this.listener = new Listener(listener)
    // A watcher does not wait for long: whether notices arrive may become known later.
    const { clock } = this.#use.environment
    this.#started = Promise.race([
      this.listener.start(),
      new Promise<void>((resolve) => {
        clock.startTimer(startMs, resolve)
      }),
    ])
  }

  #poll(): void {
    const { environment, wakeSignal, pollMs } = this.#use
    const { clock } = environment
    let polledAt = clock.monotonicMs()
    // Checks often whether it is time, so that polling begins soon after the listener is lost.
    const check = (): void => {
      // A waiting queue ticks now and then anyway; while notices arrive, that is enough.
      if (this.isProven) polledAt = clock.monotonicMs()
      else if (clock.monotonicMs() - polledAt >= pollMs) {
        polledAt = clock.monotonicMs()
        wakeSignal.wakeWatchers(undefined)
      }
      this.#timer?.reset(Math.min(pollMs, heartbeatMs))
    }
    this.#timer = clock.startTimer(pollMs, check)
  }
}
