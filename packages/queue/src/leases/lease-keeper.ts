import {
  batchKeysMax,
  type Failure,
  type RenewReply,
  type SluiceError,
  systemClock,
  type Ticker,
  type Timer,
} from '@sluice/core'
import { leaseLost } from '../core/queue-errors.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { instantSlackMs } from '../environment/timing.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { HeldSet } from '../held/held-set.ts'
import type { HoldKeeper } from '../held/hold-keeper.ts'
import type { ClockSteps } from './clock-steps.ts'

/** How much earlier than the store this process stops trusting a lease. */
function marginMs(leaseMs: number): number {
  return Math.min(Math.max(leaseMs / 10, 250), leaseMs / 2)
}

/** How often the keeper checks, within a third of a lease, whether keys have to be renewed. */
function ticksPerRenewal(leaseMs: number): number {
  return Math.min(10, Math.max(1, Math.floor(leaseMs / 900)))
}

/** How long a renewal may take, or a failed one rests, before another one is sent. */
function attemptMs(leaseMs: number): number {
  return Math.max(leaseMs / 10, Math.min(leaseMs / 6, 500))
}

/**
 * Renews all held keys in one call at every third of the lease, and aborts the signals of lost
 * ones.
 *
 * The store trusts a lease from when it is written; this process trusts it from before the request
 * was sent, and stops a margin earlier, so that it never trusts longer than the store does. A
 * renewal that is not answered within a tenth of the lease (of a lease below five seconds, within up
 * to a sixth) is sent again in parallel to the first, so that one silent connection does not cost a
 * lease.
 */
export class LeaseKeeper implements HoldKeeper {
  readonly #calls: DriverCalls
  readonly #helds: HeldSet
  readonly #clockSteps: ClockSteps
  readonly #lose: (held: HeldKey<unknown>, error: SluiceError) => void
  readonly #leaseMs: number
  readonly #tickMs: number
  #ticker: Ticker | undefined
  #deadline: Timer | undefined
  /** The deadline that the timer is set for. */
  #watched = Infinity
  /** How many renewals wait for their turn while the store is in trouble. */
  #waiting = 0
  /** When the last renewal under way was sent, on the system's monotonic clock. */
  #sentAt: number | undefined
  /** When the last renewal was sent, and when the last one of all that is held. */
  #triedAt = -Infinity
  #roundAt = 0
  /** Keys whose deadline is earlier were not renewed by the last round. */
  #provenSince = -Infinity
  #tickedAt = 0

  constructor(
    calls: DriverCalls,
    helds: HeldSet,
    clockSteps: ClockSteps,
    lose: (held: HeldKey<unknown>, error: SluiceError) => void,
  ) {
    this.#calls = calls
    this.#helds = helds
    this.#clockSteps = clockSteps
    this.#lose = lose
    this.#leaseMs = calls.options.leaseMs
    this.#tickMs = this.#leaseMs / 3 / ticksPerRenewal(this.#leaseMs)
  }

  get isOverdue(): boolean {
    return this.#ticker !== undefined && this.#now() - this.#tickedAt > this.#leaseMs
  }

  /** Until when a lease is trusted that was requested at `sentAt` (monotonic). */
  deadlineOf(sentAt: number): number {
    return sentAt + this.#leaseMs - marginMs(this.#leaseMs)
  }

  /** Starts renewing. It ends automatically when no key is held any more. */
  start({ deadline }: HeldKey<unknown>): void {
    if (this.#ticker === undefined) {
      this.#tickedAt = this.#now()
      this.#roundAt = this.#tickedAt
      this.#provenSince = -Infinity
      this.#ticker = this.#calls.handle.clock.startTicker(this.#tickMs, () => this.#tick())
    }
    if (deadline < this.#watched) this.#watch(deadline)
  }

  stop(): void {
    this.#ticker?.stop()
    this.#ticker = undefined
    this.#deadline?.stop()
    this.#deadline = undefined
    this.#watched = Infinity
  }

  /**
   * A clock was stepped, or this machine was suspended, so that the store may report the leases
   * of this process as expired: renews all of them now. Keys that cannot be renewed soon are lost.
   */
  onClockStep(): void {
    if (this.#ticker === undefined) return
    const trustedUntil = this.#now() + this.#leaseMs / 3
    for (const held of this.#helds.active()) held.deadline = Math.min(held.deadline, trustedUntil)
    this.#startRound()
  }

  #tick(): void {
    const now = this.#now()
    this.#tickedAt = now
    if (this.#helds.size === 0) {
      this.stop()
      return
    }
    this.#clockSteps.checkWallClock()
    this.#watchDeadline()
    if (this.#waiting > 0) return
    // A renewal in flight is judged by its own answer, unless it has been silent for too long.
    if (this.#sentAt !== undefined && this.#realMs() - this.#sentAt < attemptMs(this.#leaseMs))
      return
    if (now - this.#roundAt >= this.#leaseMs / 3 - this.#tickMs / 2) {
      this.#helds.age()
      this.#startRound()
    } else if (this.#sentAt !== undefined || now - this.#triedAt >= attemptMs(this.#leaseMs)) {
      this.#tryAgain()
    }
  }

  #now(): number {
    return this.#calls.handle.clock.monotonicMs()
  }

  #realMs(): number {
    return systemClock.monotonicMs()
  }

  #startRound(): void {
    this.#roundAt = this.#now()
    this.#provenSince = this.deadlineOf(this.#roundAt)
    void this.#renew(this.#helds.active())
  }

  /** Renews the keys that the last round has not renewed. */
  #tryAgain(): void {
    const late = this.#helds.active().filter(({ deadline }) => deadline < this.#provenSince)
    if (late.length > 0) void this.#renew(late)
  }

  async #renew(helds: readonly HeldKey<unknown>[]): Promise<void> {
    const all = this.#newest(helds)
    const sentAt = this.#realMs()
    this.#sentAt = sentAt
    this.#triedAt = this.#now()
    const batches: Promise<void>[] = []
    for (let at = 0; at < all.length; at += batchKeysMax) {
      batches.push(this.#renewBatch(all.slice(at, at + batchKeysMax)))
    }
    await Promise.all(batches)
    if (this.#sentAt === sentAt) this.#sentAt = undefined
    this.#watchDeadline()
  }

  /**
   * The last run of each key: a batch names no key twice. An earlier one that is still held was taken
   * from this process, which has claimed the key again since.
   */
  #newest(helds: readonly HeldKey<unknown>[]): HeldKey<unknown>[] {
    const newest = new Map(helds.map((held) => [held.key, held]))
    for (const held of helds) {
      if (newest.get(held.key) !== held && held.phase === 'held') this.#loseToAnother(held)
    }
    return [...newest.values()]
  }

  async #renewBatch(helds: readonly HeldKey<unknown>[]): Promise<void> {
    const calls = this.#calls
    const leases = helds.map(({ key, token }) => ({ key, token }))
    let sentAt = 0
    this.#waiting += 1
    let isWaiting = true
    const send = () => {
      isWaiting = false
      this.#waiting -= 1
      sentAt = this.#now()
      return calls.renew(leases, this.#leaseMs)
    }
    try {
      const replies = await calls.attempt(send, false)
      helds.forEach((held, index) => {
        this.#renewed(held, sentAt, replies[index])
      })
    } catch (error) {
      // Perhaps not renewed: the old deadlines stand, and another renewal follows.
      if (isWaiting) this.#waiting -= 1
      else calls.reportTrouble(error)
    }
  }

  #renewed(held: HeldKey<unknown>, sentAt: number, reply: RenewReply | Failure | undefined): void {
    if (reply?.outcome === 'renewed') {
      held.deadline = Math.max(held.deadline, this.deadlineOf(sentAt))
    } else if (reply?.outcome === 'lost' && held.phase === 'held') {
      this.#loseToAnother(held)
    }
  }

  #loseToAnother(held: HeldKey<unknown>): void {
    this.#lose(held, leaseLost(held.key, 'another worker may hold it by now'))
  }

  /** Sets the timer for the lease that ends first, renewed or not. */
  #watchDeadline(): void {
    if (this.#ticker === undefined) return
    let earliest = Infinity
    for (const held of this.#helds.active()) {
      if (isOwnToLose(held)) earliest = Math.min(earliest, held.deadline)
    }
    this.#watch(earliest)
  }

  #watch(deadline: number): void {
    this.#watched = deadline
    if (deadline === Infinity) return
    const { clock } = this.#calls.handle
    const ms = Math.max(0, deadline - clock.monotonicMs())
    if (this.#deadline !== undefined) this.#deadline.reset(ms)
    else this.#deadline = clock.startTimer(ms, () => this.#onDeadline())
  }

  #onDeadline(): void {
    const now = this.#now()
    for (const held of this.#helds.active()) {
      if (held.deadline <= now + instantSlackMs && isOwnToLose(held)) {
        this.#lose(held, leaseLost(held.key, 'it could not be renewed in time'))
      }
    }
    this.#watchDeadline()
  }
}

/** Whether its deadline decides: the answer decides for a key that is being given back. */
function isOwnToLose({ phase, mayBeGivenBack }: HeldKey<unknown>): boolean {
  return phase === 'held' && !mayBeGivenBack
}
