// This folder is the backend for a database: adds and finishes in batches, and the loop that claims.

import {
  type AddOutcome,
  type Ask,
  batchKeysMax,
  type EpochMs,
  type FinishOutcome,
  type ListReply,
} from '@sluice/core'
import { transitions } from '@sluice/core/driver'
import type { Backend } from '../core/backend.ts'
import type { QueueCore } from '../core/queue-core.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { HoldKeeper } from '../held/hold-keeper.ts'
import { Leases } from '../leases/leases.ts'
import { AddBatcher } from './add-batcher.ts'
import { ClaimLoop } from './claims/claim-loop.ts'
import { NextDue } from './claims/next-due.ts'
import { untilAnswered } from './claims/until-answered.ts'
import { FinishBatcher } from './finish-batcher.ts'
import { addMany, doneMany } from './many.ts'

/** Counts without a limit. */
const uncapped = Number.MAX_SAFE_INTEGER

/**
 * The backend for a driver that takes batches: adds in one batcher, finishes in another, claims and
 * renewals on their own, so that none waits for the others.
 */
export class BatchedBackend implements Backend {
  readonly adds: AddBatcher
  readonly finishes: FinishBatcher
  readonly claims: ClaimLoop
  readonly leases: Leases
  readonly keeper: HoldKeeper
  readonly #core: QueueCore
  readonly #calls: DriverCalls
  readonly #nextDue: NextDue
  /** The last call that says that no worker takes keys any more. */
  #unregistering: Promise<void> = Promise.resolve()

  constructor(core: QueueCore) {
    this.#core = core
    this.#calls = core.calls
    this.leases = new Leases(core)
    this.keeper = this.leases.keeper
    this.#nextDue = new NextDue(core, this.leases)
    this.adds = new AddBatcher(core.calls, this.#nextDue)
    this.finishes = new FinishBatcher(core, this.#nextDue)
    this.claims = new ClaimLoop(core, this.finishes, this.#nextDue)
  }

  addMany(asks: readonly Ask[]): Promise<AddOutcome[]> {
    return addMany(this.#core, this.adds, asks)
  }

  doneMany(
    count: number,
    heldAt: (at: number) => HeldKey<unknown> | undefined,
    forget: boolean,
  ): Promise<FinishOutcome[]> {
    return doneMany(this.#core, this.finishes, count, heldAt, forget)
  }

  async failures(key: string): Promise<number> {
    const { rows, now } = await this.#calls.list({ keys: [key], limit: 1 })
    const row = rows[0]
    // A store may keep a count that has expired for a while.
    if (row === undefined) return 0
    return transitions.countedFailures(row, now, this.#calls.options.failuresExpireMs)
  }

  async len(): Promise<number> {
    const { driver, name } = this.#calls
    const request = { cap: uncapped }
    const counts = await this.#calls.inquire(() =>
      this.#calls.call('counts', request, () => driver.counts(name, request)),
    )
    return counts.ready
  }

  async now(isOver?: () => boolean): Promise<EpochMs> {
    // An add that was accepted before this call is due by the time that it returns. Of those by `addSoon`, a
    // second one of a key is submitted when the first is answered.
    await this.adds.answered()
    await this.adds.answered()
    return (await untilAnswered(this.#core, () => this.#nextDue.tick(false), isOver)).now
  }

  estimatedNow(): EpochMs {
    return this.#nextDue.now()
  }

  readyAt(held: HeldKey<unknown>): EpochMs {
    return held.readyAt
  }

  async isDrained(instant: EpochMs): Promise<boolean> {
    for (;;) {
      // A key that a claim in flight has taken is neither ready any more nor held yet.
      const { inFlight } = this.claims
      await inFlight.answered()
      const { count } = inFlight
      if (!(await this.#isNothingDue(instant))) return false
      if (count === inFlight.count) return true
    }
  }

  async #isNothingDue(instant: EpochMs): Promise<boolean> {
    const { nextAt, now } = await untilAnswered(this.#core, () => this.#nextDue.tick(false))
    if (nextAt > now || nextAt <= instant) return nextAt > instant
    // Something is ready, perhaps only since `instant`: a driver need not say since when.
    return await untilAnswered(this.#core, () => this.#nothingReadySince(instant))
  }

  async #nothingReadySince(instant: EpochMs): Promise<boolean> {
    for (let cursor: string | undefined, limit = 10; ; limit = batchKeysMax) {
      const reply: ListReply = await this.#calls.list({ state: 'ready', limit, cursor })
      if (reply.rows.some(({ dueAt }) => dueAt <= instant)) return false
      if (reply.cursor === undefined) return true
      cursor = reply.cursor
    }
  }

  isDue(): boolean {
    return this.#nextDue.nextAt <= this.#nextDue.now()
  }

  unregister(): Promise<void> {
    const unregistering = this.#unregister()
    // A store in trouble is not waited for: it drops the worker from its list when it hears no more of it.
    if (!this.#calls.handle.gate.isClosed) this.#unregistering = unregistering
    return unregistering
  }

  async #unregister(): Promise<void> {
    // A store that is adding a record of this queue does not add another one, and this is the last.
    await this.#nextDue.registered()
    await this.#calls.attempt(() => this.#nextDue.tick(true))
  }

  async idle(): Promise<void> {
    await this.adds.answered()
    await this.claims.inFlight.answered()
    await this.finishes.answered()
    // A driver that is closed need not send what it was asked for.
    await this.#unregistering.catch(() => undefined)
  }

  giveUp(): void {
    this.adds.giveUp()
    this.finishes.giveUp()
    this.#calls.handle.gate.leave(this.#calls)
  }

  stop(): void {
    this.claims.stop()
    this.#calls.handle.gate.leave(this.#calls)
  }
}
