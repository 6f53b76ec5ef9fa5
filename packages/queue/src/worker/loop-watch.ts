import { type Clock, nextTurn, SluiceError, systemClock, type Ticker } from '@sluice/core'

/** How long handlers may occupy the event loop before other work gets a turn. */
const turnMsMax = 10

/** How many keys a report names. */
const keysNamedMax = 10

/** The watches of this process, whose workers stand still together. */
const watches = new Set<LoopWatch>()

/** When a watch last reported a block, on the monotonic clock. */
let reportedAt = -Infinity

/** A block of the event loop. */
interface LoopBlock {
  readonly blockedMs: number
  /** The keys that were running in this process, at most ten. */
  readonly keys: readonly string[]
}

/** The worker whose event loop is watched. */
export interface LoopWatchOptions {
  readonly clock: Clock
  /** How long the event loop may stand still. */
  readonly blockedMs: number
  /** The keys that are being worked on. */
  keys(): readonly string[]
  onBlocked(block: LoopBlock, error: SluiceError): void
}

/**
 * Notices that the event loop was blocked: a ticker that should have ticked did not. Looked at by
 * the ticker, which comes late, and whenever a handler hands back control, which comes at once and
 * while it is still known which handler that was.
 *
 * Only the clock of the machine continues while the loop stands still. Under any other clock
 * nothing is detected, and no ticker runs that a test would have to step through.
 */
export class LoopWatch {
  readonly #options: LoopWatchOptions
  readonly #periodMs: number
  readonly #ticker: Ticker | undefined
  #tickedAt: number
  #blockedAt = -Infinity
  #turnAt: number
  #turn: Promise<void> | undefined

  constructor(options: LoopWatchOptions) {
    this.#options = options
    const { clock, blockedMs } = options
    this.#periodMs = blockedMs / 4
    this.#tickedAt = clock.monotonicMs()
    this.#turnAt = this.#tickedAt
    if (clock !== systemClock) return
    watches.add(this)
    this.#ticker = clock.startTicker(this.#periodMs, () => {
      const now = clock.monotonicMs()
      this.#look(now)
      this.#tickedAt = now
      this.#turnAt = now
    })
  }

  /** Checks whether the loop was blocked, and reports it if no watch has. */
  #look(now: number): void {
    if (this.#ticker === undefined) return
    const options = this.#options
    const dueAt = this.#tickedAt + this.#periodMs
    if (now - dueAt <= options.blockedMs) return
    this.#tickedAt = now
    this.#blockedAt = now
    const blockedMs = Math.round(now - Math.max(dueAt, reportedAt))
    if (blockedMs <= options.blockedMs) return
    reportedAt = now
    // The own ones first: a handler of this worker may just have handed back control.
    const all = [...new Set([this, ...watches])].flatMap((watch) => watch.#options.keys())
    const keys = all.slice(0, keysNamedMax)
    const named = keys.map((key) => JSON.stringify(key)).join(', ')
    options.onBlocked(
      { blockedMs, keys },
      new SluiceError(
        'ERR_LOOP_BLOCKED',
        `the event loop was blocked for ${blockedMs} ms while these keys were running: ` +
          `${named || 'none'}; no lease can be renewed meanwhile: let handlers await, or compute ` +
          'in a worker thread, unless the process was paused or had no processor',
      ),
    )
  }

  /** Whether the loop was found blocked within `ms`. */
  wasBlockedWithin(ms: number): boolean {
    return this.#options.clock.monotonicMs() - this.#blockedAt <= ms
  }

  /**
   * A handler hands back control. Returns a turn of the event loop for others, if it is time for one:
   * handlers that never wait for anything would otherwise keep timers, sockets and renewals waiting
   * until the queue is empty.
   */
  handedBack(): Promise<void> | undefined {
    const now = this.#options.clock.monotonicMs()
    this.#look(now)
    if (now - this.#turnAt < turnMsMax) return undefined
    this.#turn ??= new Promise((resolve) => {
      nextTurn(() => {
        this.#turn = undefined
        this.#turnAt = this.#options.clock.monotonicMs()
        resolve()
      })
    })
    return this.#turn
  }

  stop(): void {
    this.#ticker?.stop()
    watches.delete(this)
  }
}
