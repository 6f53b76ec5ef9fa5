import { type EpochMs, heartbeatMs, type Lease, never, type TickReply } from '@sluice/core'
import type { Engine } from './engine.ts'

/** How many leases that are over one tick reports. */
const tickLimit = 100

/**
 * What this process knows of the store's time, and of when it makes sense to look into it again.
 */
export class Outlook {
  readonly #engine: Engine
  /** The next instant at which something is due, as far as anybody here knows. */
  nextAt: EpochMs = never
  /** The earliest of what was learned while the store was being asked: its answer may not know it. */
  #learnedAt: EpochMs = never
  #asking = 0
  /** Others may have changed that since. */
  isStale = true
  #tickedAt = -Infinity
  /** The store's time less this process's monotonic time. */
  #offsetMs: number | undefined

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The store's time, from when it was last told. */
  now(): EpochMs {
    const { clock } = this.#engine.store
    return this.#offsetMs === undefined ? clock.now() : clock.monotonicMs() + this.#offsetMs
  }

  /** Whether the store has to be asked before it is known when to look again. */
  get isOver(): boolean {
    return this.isStale || this.nextAt <= this.now()
  }

  /** The store's time in an answer to a call that was sent at `sentAt`, on the monotonic clock. */
  knowTime(now: EpochMs, sentAt: number): void {
    this.#offsetMs = now - this.#engine.store.clock.monotonicMs()
    this.#engine.steps.heard(now, sentAt)
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

  /** Whether the store was asked less than a beat ago; a little less than a beat is a beat. */
  get wasAskedLately(): boolean {
    return this.#engine.store.clock.monotonicMs() - this.#tickedAt < heartbeatMs * 0.9
  }

  /** Asks the store, and ends the leases that it reports to be over. */
  async tick(): Promise<TickReply> {
    const { driver, name, holder, options, tally } = this.#engine
    const { failuresExpireMs } = options
    const request = { holder, limit: tickLimit, failuresExpireMs, worker: tally.worker() }
    this.isStale = false
    const sentAt = this.#engine.store.clock.monotonicMs()
    this.#tickedAt = sentAt
    let reply: TickReply
    if (this.#asking === 0) this.#learnedAt = never
    this.#asking += 1
    try {
      reply = await this.#engine.inquire(() =>
        this.#engine.call('tick', request, () => driver.tick(name, request)),
      )
    } catch (error) {
      // A question without an answer spares nobody another one: those who wait are to hear of it.
      this.#tickedAt = -Infinity
      throw error
    } finally {
      this.#asking -= 1
    }
    this.nextAt = Math.min(reply.nextAt, this.#learnedAt)
    this.knowTime(reply.now, sentAt)
    if (reply.leaseEnds.length > 0) await this.endLeases(reply.leaseEnds)
    return reply
  }

  /** Acts on leases that are over. When the lost runs are due now is for the store to say. */
  async endLeases(leases: readonly Lease[]): Promise<void> {
    await this.#engine.leaseEnds.end(leases)
    this.isStale = true
  }
}
