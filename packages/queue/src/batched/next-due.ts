import { type EpochMs, heartbeatMs, type Lease, never, type TickReply } from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { StoreTime } from '../driver/store-time.ts'

/** How many expired leases one tick reports, and how many rows it sweeps away. */
const tickLimit = 100

/** A little less than a beat is a beat. */
const beatMs = heartbeatMs * 0.9

/**
 * What this process knows of the store's time, and of when it makes sense to look into it again.
 */
export class NextDue {
  readonly #core: QueueCore
  readonly #time: StoreTime
  /** The next instant at which something is due, as far as anybody here knows. */
  nextAt: EpochMs = never
  /** The earliest of what was learned while the store was being asked: its answer may not know it. */
  #learnedAt: EpochMs = never
  #asking = 0
  /** Questions are numbered: they may be answered in another order. */
  #asked = 0
  /** The youngest question that was answered. */
  #heard = 0
  /** Others may have changed that since. */
  isStale = true
  #tickedAt = -Infinity
  #isSweeping = false

  constructor(core: QueueCore) {
    this.#core = core
    this.#time = new StoreTime(core.calls.handle)
  }

  /** The store's time, from when it was last told. */
  now(): EpochMs {
    return this.#time.now()
  }

  /** Whether the store has to be asked before it is known when to look again. */
  get mustAsk(): boolean {
    return this.isStale || this.nextAt <= this.now()
  }

  /** The store said that it is `now`, in the answer to what was sent at `sentAt` (monotonic). */
  setStoreTime(now: EpochMs, sentAt: number): void {
    this.#time.learn(now, sentAt)
    this.#core.clockSteps.checkStoreTime(now, sentAt)
  }

  /**
   * A key is due at `dueAt`; nobody has to be asked. What is due already is claimed anyway, unless it
   * was asked for later: to the store, which knows the time better, it may not be due yet.
   */
  learn(dueAt: EpochMs, wasDelayed: boolean): void {
    if (!wasDelayed && dueAt <= this.now()) return
    this.nextAt = Math.min(this.nextAt, dueAt)
    if (this.#asking > 0) this.#learnedAt = Math.min(this.#learnedAt, dueAt)
  }

  /** Whether the store was asked less than a beat ago. */
  get wasAskedRecently(): boolean {
    return this.#core.calls.handle.clock.monotonicMs() - this.#tickedAt < beatMs
  }

  /** Whether it is time to register the worker of this process with the store. */
  get isHeartbeatDue(): boolean {
    const { calls, tally } = this.#core
    return !this.wasAskedRecently || tally.isDue(calls.handle.clock.monotonicMs(), beatMs)
  }

  /**
   * Asks the store, and ends the leases that it reports as expired. `registers`: takes the worker
   * here along if its registration is due. Others are woken by that write, so it is never made
   * because this process was woken.
   */
  async tick(registers: boolean): Promise<TickReply> {
    const { calls, tally } = this.#core
    const { driver, name, holder, options, handle } = calls
    const { failuresExpireMs } = options
    const worker = registers ? tally.dueWorker(handle.clock.monotonicMs(), beatMs) : undefined
    const request = { holder, limit: tickLimit, failuresExpireMs, worker }
    this.isStale = false
    let sentAt = handle.clock.monotonicMs()
    this.#tickedAt = sentAt
    if (this.#asking === 0) this.#learnedAt = never
    this.#asking += 1
    this.#asked += 1
    const question = this.#asked
    let reply: TickReply
    try {
      reply = await calls.inquire(() =>
        calls.call('tick', request, () => {
          sentAt = handle.clock.monotonicMs()
          return driver.tick(name, request)
        }),
      )
    } catch (error) {
      // A question without an answer spares nobody another one: those who wait are to hear of it.
      this.#tickedAt = -Infinity
      if (worker !== undefined) tally.isRegistered = false
      throw error
    } finally {
      this.#asking -= 1
    }
    this.#heed(question, Math.min(reply.nextAt, this.#learnedAt))
    this.setStoreTime(reply.now, sentAt)
    if (reply.leaseEnds.length > 0) await this.endLeases(reply.leaseEnds)
    if (reply.swept >= tickLimit) this.#sweepOn()
    return reply
  }

  #heed(question: number, nextAt: EpochMs): void {
    // An answer that was overtaken does not know what the younger one knew.
    this.nextAt = question < this.#heard ? Math.min(this.nextAt, nextAt) : nextAt
    this.#heard = Math.max(this.#heard, question)
  }

  /** Sweeps on in the background, a step at a time, until there is nothing more to sweep away. */
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
    }
  }

  /** Acts on expired leases. The store then says when the lost runs are due. */
  async endLeases(leases: readonly Lease[]): Promise<void> {
    await this.#core.leaseEnds.end(leases)
    this.isStale = true
  }
}
