import { nextTurn } from '@sluice/core'
import type { QueueCore } from '../../core/queue-core.ts'
import { giveBack } from '../../held/give-back.ts'
import type { HeldKey, HeldPolicy } from '../../held/held-key.ts'
import type { ClaimsInFlight } from './claim-once.ts'
import { ClaimSize } from './claim-size.ts'
import type { NextDue } from './next-due.ts'
import { PrefetchAmount } from './prefetch-amount.ts'
import { PrefetchBuffer } from './prefetch-buffer.ts'

/** How many keys may be claimed ahead, and how many together with finishes in flight. */
export interface PrefetchLimits {
  readonly max: number
  readonly beyondSlotsMax: number
}

/**
 * Claims ahead of the slots of workers: how many keys, when, and when they are given back. Only
 * workers claim ahead, and only while they take keys.
 */
export class Prefetching {
  readonly #core: QueueCore
  readonly #inFlight: ClaimsInFlight
  readonly #nextDue: NextDue
  readonly #amount: PrefetchAmount
  readonly #claimSize: ClaimSize
  readonly #buffer: PrefetchBuffer
  /** A worker has taken a key since keys were last given back unused. */
  #isInUse = false

  constructor(core: QueueCore, inFlight: ClaimsInFlight, nextDue: NextDue) {
    this.#core = core
    this.#inFlight = inFlight
    this.#nextDue = nextDue
    const { leaseMs, prefetch } = core.calls.options
    this.#amount = new PrefetchAmount(prefetch, leaseMs / 3)
    this.#claimSize = new ClaimSize(leaseMs)
    this.#buffer = new PrefetchBuffer({
      clock: () => core.calls.handle.clock,
      keepMs: () => Math.min(this.#amount.keepMs, leaseMs / 3),
      giveBack: (held) => {
        this.#isInUse = false
        void giveBack(held)
      },
    })
  }

  /** How many keys are claimed ahead. */
  get size(): number {
    return this.#buffer.size
  }

  /** How many keys may be claimed ahead at present, whatever else is in progress. */
  get max(): number {
    return this.#amount.of(this.#core.tally?.slots ?? 0)
  }

  /** How many keys may be claimed ahead or wait for an acknowledgement. */
  get beyondSlotsMax(): number {
    return this.#amount.withFinishing(this.#core.tally?.slots ?? 0)
  }

  /** How many keys one claim asks for at most. */
  get claimMax(): number {
    return this.#claimSize.max
  }

  noteClaim(ms: number, keys: number): void {
    this.#amount.noteClaim(ms, keys)
    this.#claimSize.note(ms, keys)
  }

  noteRun(ms: number): void {
    this.#amount.noteRun(ms)
  }

  /** A waiter of a worker takes a key. */
  noteUse(): void {
    this.#isInUse = true
  }

  /** How many more keys may be claimed ahead; none while the store or this process is in trouble. */
  room(max: number = this.max): number {
    const { calls, keeper, phase, tally } = this.#core
    if (max === 0 || phase !== 'open' || tally === undefined || tally.active === 0) return 0
    if (calls.handle.gate.isClosed || keeper.isOverdue) return 0
    const beyondSlots = this.beyondSlotsMax - tally.finishing.size
    return Math.max(0, Math.min(max, beyondSlots) - this.size)
  }

  /** Whether a claim is to leave for keys that no slot waits for. */
  isWanted(): boolean {
    const { max } = this
    const { keysMax } = this.#inFlight
    // A part of it at a time, so that keys come in batches; and only while handlers run.
    return (
      this.#isInUse &&
      this.size + keysMax <= max / 2 &&
      this.room(max) - keysMax >= Math.max(1, max / 4)
    )
  }

  /** Hands keys to the waiters that have come since. */
  handOut(): void {
    const { waiters } = this.#core
    for (let waiter = waiters.first(); waiter !== undefined; waiter = waiters.first()) {
      const held = this.take(waiter.policy)
      if (held === undefined) return
      waiters.remove(waiter)
      this.#core.deliver(waiter, [held])
    }
  }

  /** Takes a key, for the caller or waiter whose turn it is. */
  take(policy: HeldPolicy): HeldKey<unknown> | undefined {
    if (this.size === 0) return undefined
    this.#nextDue.leases.clockSteps.checkWallClock()
    const held = this.#buffer.shift()
    if (held !== undefined) held.policy = policy
    return held
  }

  /** The present limits, by which a claim that is sent now may bring keys. */
  get limits(): PrefetchLimits {
    return { max: this.max, beyondSlotsMax: this.beyondSlotsMax }
  }

  /**
   * Keeps keys that a claim brought and no waiter took, by the limits under which it was sent: the
   * present ones may be lower because the claim itself has held up the handlers, and keys that are
   * given back are claimed again.
   */
  keep(helds: readonly HeldKey<unknown>[], { max, beyondSlotsMax }: PrefetchLimits): void {
    const { phase, tally } = this.#core
    const finishing = tally?.finishing.size ?? 0
    const room = Math.min(max, Math.max(max, beyondSlotsMax) - finishing) - this.size
    const kept: HeldKey<unknown>[] = []
    for (const held of helds) {
      // Unused since the claim was sent: its waiters have given up, or the keys were released.
      if (this.#isInUse && kept.length < room && phase === 'open' && held.crashes < 2) {
        kept.push(held)
      } else {
        // A key that has crashed twice is claimed by a slot that is free.
        this.#isInUse = held.crashes < 2 && this.#isInUse
        void giveBack(held)
      }
    }
    this.#buffer.push(kept)
  }

  /** Gives back the keys whose leases have expired, as while this process was blocked. */
  giveBackExpired(): void {
    this.#buffer.peek()
  }

  /** Gives back all keys that were claimed ahead, and those that a claim in flight brings. */
  async release(): Promise<void> {
    for (const held of this.#buffer.takeAll()) void giveBack(held)
    this.#isInUse = false
    if (this.#inFlight.size > 0) {
      await this.#inFlight.answered()
      // Keys without a waiter are given back in the turn in which their claim is answered.
      await new Promise<void>(nextTurn)
    }
    await Promise.all(this.#core.returning.values())
  }
}
