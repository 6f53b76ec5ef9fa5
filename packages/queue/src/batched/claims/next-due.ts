import {
  type EpochMs,
  heartbeatMs,
  type Lease,
  never,
  nextTurn,
  type TickReply,
} from '@sluice/core'
import type { QueueCore } from '../../core/queue-core.ts'
import { StoreTime } from '../../driver/store-time.ts'
import type { Leases } from '../../leases/leases.ts'

/** How many expired leases one tick reports, and how many stale rows it deletes. */
const tickLimit = 100

/** The least time between two heartbeats: timers may fire a little early. */
const beatMs = heartbeatMs * 0.9

/**
 * When the next key of the queue is due, as far as this process knows, and the store's time.
 */
export class NextDue {
  readonly #core: QueueCore
  readonly leases: Leases
  readonly #time: StoreTime
  /** The instant at which the next key is due, or the next lease expires. */
  nextAt: EpochMs = never
  /** The earliest instant learned during a tick, whose answer may not include it. */
  #learnedAt: EpochMs = never
  #ticking = 0
  /** Ticks are numbered: they may be answered in another order. */
  #ticks = 0
  /** The latest tick that was answered. */
  #lastAnswered = 0
  /** Another process may have changed that since. */
  isStale = true
  #tickedAt = -Infinity
  /** How many steps of clocks were known when the last tick was sent. */
  #stepsBefore = 0
  #isSweeping = false
  /** The last tick that registered a worker. */
  #registering: Promise<unknown> = Promise.resolve()

  constructor(core: QueueCore, leases: Leases) {
    this.#core = core
    this.leases = leases
    this.#time = new StoreTime(core.calls.handle)
  }

  /** The store's time, estimated from its answers. */
  now(): EpochMs {
    return this.#time.now()
  }

  /** Whether a tick is needed to know when the next key is due. */
  get mustAsk(): boolean {
    return this.isStale || this.nextAt <= this.now()
  }

  /** The store's time was `now`, in the answer to a call that was sent at `sentAt` (monotonic). */
  setStoreTime(now: EpochMs, sentAt: number): void {
    this.#time.learn(now, sentAt)
    this.leases.clockSteps.checkStoreTime(now, sentAt)
  }

  /**
   * A key is due at `dueAt`, as the answer to a write says. A key that is due already is claimed
   * anyway, unless it was delayed: by the store's exact time it may not be due yet.
   */
  learn(dueAt: EpochMs, wasDelayed: boolean): void {
    // Most finishes leave nothing due, and reading the clock for each of them takes time.
    if (dueAt >= this.nextAt && (this.#ticking === 0 || dueAt >= this.#learnedAt)) return
    if (!wasDelayed && dueAt <= this.now()) return
    this.nextAt = Math.min(this.nextAt, dueAt)
    if (this.#ticking > 0) this.#learnedAt = Math.min(this.#learnedAt, dueAt)
  }

  /** Whether a tick that was sent since then (monotonic) has said that no key is due yet. */
  isNothingDueSince(instant: number): boolean {
    const { clockSteps } = this.leases
    // After a suspension of this machine, a key is due earlier than the monotonic clock says.
    clockSteps.checkWallClock()
    const isKnown = this.#ticking === 0 && this.#tickedAt >= instant
    return isKnown && this.#stepsBefore === clockSteps.count && !this.mustAsk
  }

  /** Whether the last tick was less than a heartbeat ago. */
  get wasAskedRecently(): boolean {
    return this.#core.calls.handle.clock.monotonicMs() - this.#tickedAt < beatMs
  }

  /** Whether it is time to register the worker of this process with the store. */
  get isHeartbeatDue(): boolean {
    const { calls, tally } = this.#core
    return (
      !this.wasAskedRecently || (tally?.isDue(calls.handle.clock.monotonicMs(), beatMs) ?? false)
    )
  }

  /**
   * Asks the store when the next key is due, and ends the leases that it reports as expired.
   * `registers`: sends the registration of the worker along if that is due. This write wakes other
   * processes, so that it is never made because this process was woken.
   */
  tick(registers: boolean): Promise<TickReply> {
    const { calls, tally } = this.#core
    const isDue = registers && tally?.isDue(calls.handle.clock.monotonicMs(), beatMs) === true
    const reply = this.#tick(registers)
    if (isDue) this.#registering = reply
    return reply
  }

  /** Resolves when the last registration of a worker was answered. */
  async registered(): Promise<void> {
    await this.#registering.catch(() => undefined)
  }

  async #tick(registers: boolean): Promise<TickReply> {
    const { calls, tally } = this.#core
    const { driver, name, holder, options, handle } = calls
    const { failuresExpireMs } = options
    const worker = registers ? tally?.dueWorker(handle.clock.monotonicMs(), beatMs) : undefined
    const record = worker === undefined ? undefined : tally?.takeRecord()
    const request = { holder, limit: tickLimit, failuresExpireMs, worker, record }
    this.isStale = false
    let sentAt = handle.clock.monotonicMs()
    this.#tickedAt = sentAt
    this.#stepsBefore = this.leases.clockSteps.count
    if (this.#ticking === 0) this.#learnedAt = never
    this.#ticking += 1
    this.#ticks += 1
    const number = this.#ticks
    let reply: TickReply
    try {
      reply = await calls.inquire(() =>
        calls.call('tick', request, () => {
          sentAt = handle.clock.monotonicMs()
          return driver.tick(name, request)
        }),
      )
    } catch (error) {
      // A failed tick does not count as recent: waiters must get its error, or another tick.
      this.#tickedAt = -Infinity
      this.isStale = true
      if (worker !== undefined && tally !== undefined) tally.isRegistered = false
      if (record !== undefined) tally?.recordFailed(record, error)
      throw error
    } finally {
      this.#ticking -= 1
    }
    if (record !== undefined && reply.recorded !== true) tally?.putBack(record)
    this.#accept(number, Math.min(reply.nextAt, this.#learnedAt))
    this.setStoreTime(reply.now, sentAt)
    if (reply.leaseEnds.length > 0) await this.endLeases(reply.leaseEnds)
    if (reply.swept >= tickLimit) this.#sweepOn()
    return reply
  }

  #accept(number: number, nextAt: EpochMs): void {
    // An answer that was overtaken does not include what the later one did.
    this.nextAt = number < this.#lastAnswered ? Math.min(this.nextAt, nextAt) : nextAt
    this.#lastAnswered = Math.max(this.#lastAnswered, number)
  }

  /** Sweeps on in the background, tick by tick, until no stale row is left. */
  #sweepOn(): void {
    if (this.#isSweeping) return
    this.#isSweeping = true
    this.#sweep()
      .catch((error: unknown) => this.#core.calls.reportTrouble(error))
      .finally(() => {
        this.#isSweeping = false
      })
  }

  async #sweep(): Promise<void> {
    for (;;) {
      const { phase } = this.#core
      if (phase === 'closing' || phase === 'closed') return
      const { swept } = await this.#core.calls.attempt(() => this.tick(false), false)
      if (swept < tickLimit) return
      // A store in this process answers at once.
      await new Promise<void>(nextTurn)
    }
  }

  /** Acts on expired leases. The store then says when the lost runs are due. */
  async endLeases(leases: readonly Lease[]): Promise<void> {
    await this.leases.ends.end(leases)
    this.isStale = true
  }
}
