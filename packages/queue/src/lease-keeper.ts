import {
  type Awaitable,
  batchKeysMax,
  type Clock,
  type Failure,
  type Lease,
  type RenewReply,
  SluiceError,
  systemClock,
  type Ticker,
  type Timer,
} from '@sluice/core'
import type { Keeper } from './age-keeper.ts'
import type { HeldKey } from './held-key.ts'
import type { HeldSet } from './held-set.ts'
import { instantSlackMs } from './instants.ts'

/** How much earlier than the store this process stops trusting a lease. */
function marginMs(leaseMs: number): number {
  return Math.min(Math.max(leaseMs / 10, 250), leaseMs / 2)
}

/** What the keeper needs of its queue. */
export interface KeeperOptions {
  readonly leaseMs: number
  readonly clock: () => Clock
  readonly helds: HeldSet
  /** How long a renewal may take before another one is sent; in real time. */
  readonly timeoutMs: number
  renew(leases: readonly Lease[]): Awaitable<readonly (RenewReply | Failure)[]>
  onLost(held: HeldKey<unknown>, error: SluiceError): void
  report(error: unknown): void
}

/**
 * Renews what is held, all in one call at every third of the lease, and aborts what was lost.
 *
 * The store trusts a lease from when it is written; this process trusts it from before the request
 * was sent, and stops a margin earlier, so that it never believes longer than the store does.
 */
export class LeaseKeeper implements Keeper {
  readonly #options: KeeperOptions
  #ticker: Ticker | undefined
  #deadline: Timer | undefined
  #isWatching = false
  /** When the renewal that is under way was begun, on the system's monotonic clock. */
  #renewingSince: number | undefined
  #tickedAt = 0

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  get isOverdue(): boolean {
    const { clock, leaseMs } = this.#options
    return this.#ticker !== undefined && clock().monotonicMs() - this.#tickedAt > leaseMs
  }

  /** Until when a lease asked for at `sentAt` (monotonic) is trusted. */
  deadlineOf(sentAt: number): number {
    const { leaseMs } = this.#options
    return sentAt + leaseMs - marginMs(leaseMs)
  }

  /** Starts renewing, if it is not under way. It ends by itself when nothing is held any more. */
  start(): void {
    if (this.#ticker !== undefined) {
      if (!this.#isWatching) this.#watchDeadline()
      return
    }
    const { leaseMs, clock } = this.#options
    this.#tickedAt = clock().monotonicMs()
    this.#ticker = clock().startTicker(leaseMs / 3, () => {
      void this.#renew()
    })
    this.#watchDeadline()
  }

  stop(): void {
    this.#ticker?.stop()
    this.#ticker = undefined
    this.#deadline?.stop()
    this.#deadline = undefined
    this.#isWatching = false
  }

  async #renew(): Promise<void> {
    const { helds, clock } = this.#options
    this.#tickedAt = clock().monotonicMs()
    if (helds.size === 0) {
      this.stop()
      return
    }
    helds.age()
    const now = systemClock.monotonicMs()
    // A renewal that is still under way is judged by its own answer, unless it hangs.
    if (this.#renewingSince !== undefined && now - this.#renewingSince < this.#options.timeoutMs) {
      this.#watchDeadline()
      return
    }
    this.#renewingSince = now
    try {
      await this.#renewAll([...helds.active()])
    } catch (error) {
      // Not renewed, as far as anybody knows: the old deadlines stand, and the next tick tries again.
      this.#options.report(error)
    } finally {
      if (this.#renewingSince === now) this.#renewingSince = undefined
      this.#watchDeadline()
    }
  }

  async #renewAll(all: readonly HeldKey<unknown>[]): Promise<void> {
    const { clock } = this.#options
    for (let at = 0; at < all.length; at += batchKeysMax) {
      const some = all.slice(at, at + batchKeysMax)
      const sentAt = clock().monotonicMs()
      const replies = await this.#options.renew(some.map(({ key, token }) => ({ key, token })))
      some.forEach((held, index) => {
        this.#renewed(held, sentAt, replies[index])
      })
    }
  }

  #renewed(held: HeldKey<unknown>, sentAt: number, reply: RenewReply | Failure | undefined): void {
    if (reply === undefined || held.phase !== 'held') return
    if (reply.outcome === 'renewed') {
      held.deadline = Math.max(held.deadline, this.deadlineOf(sentAt))
    } else if (reply.outcome === 'lost') {
      this.#lose(held, 'somebody else may hold it by now')
    }
  }

  #lose(held: HeldKey<unknown>, why: string): void {
    this.#options.onLost(
      held,
      new SluiceError(
        'ERR_LEASE_LOST',
        `the lease of key ${JSON.stringify(held.key)} is lost: ${why}; stop working on it`,
      ),
    )
  }

  /** Sets the timer for the lease that runs out first, renewed or not. */
  #watchDeadline(): void {
    const { helds, clock } = this.#options
    let earliest = Infinity
    for (const { phase, deadline } of helds.active()) {
      // What is being given back is judged by the answer to that.
      if (phase === 'held') earliest = Math.min(earliest, deadline)
    }
    this.#isWatching = earliest !== Infinity
    if (!this.#isWatching) return
    const ms = Math.max(0, earliest - clock().monotonicMs())
    if (this.#deadline !== undefined) this.#deadline.reset(ms)
    else {
      this.#deadline = clock().startTimer(ms, () => {
        this.#onDeadline()
      })
    }
  }

  #onDeadline(): void {
    const { helds, clock } = this.#options
    const now = clock().monotonicMs()
    for (const held of [...helds.active()]) {
      if (held.deadline <= now + instantSlackMs && held.phase === 'held') {
        this.#lose(held, 'it could not be renewed in time')
      }
    }
    this.#watchDeadline()
  }
}
