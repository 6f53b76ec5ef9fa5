import { heartbeatMs, type Timer } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import type { Row } from './client-shapes.ts'
import { Listener, type ListenerUse } from './listener.ts'
import type { Statement } from './statements.ts'
import type { WakeSignal } from './wake-signal.ts'

/** How long who watches waits for notices to be proven, in milliseconds. */
const startMs = 2_000

/** What watching works with. */
export interface WatchUse {
  readonly environment: Environment
  readonly wakeSignal: WakeSignal
  /** How often to look without a notice while notices do not come, in milliseconds. */
  readonly pollMs: number
  /** How notices from elsewhere are heard; undefined if they cannot be. */
  readonly listener: ListenerUse | undefined
}

/**
 * Wakes those who watch: at once by what is done through this driver, soon by notices from other
 * processes, and by the clock while those have not been proven to come.
 */
export class Watch {
  readonly #use: WatchUse
  #listener: Listener | undefined
  #started: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #watchers = 0

  constructor(use: WatchUse) {
    this.#use = use
  }

  /** Whether notices from other processes have been proven to come. */
  get isProven(): boolean {
    return this.#listener?.isProven ?? false
  }

  /** From now on `onWake` is called. Returns how to stop. */
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

  /** Sends a statement over the connection that listens, if there is one and nothing is in its way. */
  async overListener(
    statement: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[] | undefined> {
    return await this.#listener?.ask(statement, values)
  }

  /** Stops listening and polling. */
  async stop(): Promise<void> {
    this.#timer?.stop()
    this.#timer = undefined
    const listener = this.#listener
    this.#listener = undefined
    await listener?.stop()
  }

  #begin(): void {
    this.#poll()
    const { listener } = this.#use
    if (listener === undefined) return
    this.#listener = new Listener(listener)
    // Nobody waits for long to watch: what it is that wakes may become known later.
    const { clock } = this.#use.environment
    this.#started = Promise.race([
      this.#listener.start(),
      new Promise<void>((resolve) => {
        clock.startTimer(startMs, resolve)
      }),
    ])
  }

  #poll(): void {
    const { environment, wakeSignal, pollMs } = this.#use
    const { clock } = environment
    let lookedAt = clock.monotonicMs()
    // Looks often at whether it is time, so that a listener which is lost makes a difference soon.
    const again = (): void => {
      // Who waits looks now and then by itself; with notices that come, nobody has to be told to.
      if (this.isProven) lookedAt = clock.monotonicMs()
      else if (clock.monotonicMs() - lookedAt >= pollMs) {
        lookedAt = clock.monotonicMs()
        wakeSignal.hear(undefined)
      }
      this.#timer?.reset(Math.min(pollMs, heartbeatMs))
    }
    this.#timer = clock.startTimer(pollMs, again)
  }
}
