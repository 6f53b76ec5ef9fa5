import { batchKeysMax, never, type TickReply } from '@sluice/core'
import type { AlarmSetting } from '../core/alarm.ts'
import type { QueueCore } from '../core/queue-core.ts'
import { isPermanent, retryDelayMs } from '../driver/retryable.ts'
import { instantSlackMs } from '../environment/timing.ts'
import { giveBack } from '../held/give-back.ts'
import type { HeldKey } from '../held/held-key.ts'
import { ClaimCall } from './claim-once.ts'
import { type ClaimResult, ClaimsInFlight } from './claims-in-flight.ts'
import type { FinishBatcher } from './finish-batcher.ts'
import { claimsInFlightMax, parallelMin } from './in-flight-limits.ts'
import type { NextDue } from './next-due.ts'
import { PrefetchBuffer } from './prefetch-buffer.ts'

/** How long to wait when keys are due that a claim does not get, since others have them locked. */
const lockedPatience = { first: 5, longest: 1_000 }

/**
 * Claims keys for those who wait, never more than are waited for or may be kept ahead; one claim at a
 * time, unless very many more keys are wanted than that can bring.
 *
 * Whatever may have changed only raises a mark; the one loop that claims looks at the mark before it
 * rests, so that no wake-up falls between looking and resting.
 */
export class ClaimLoop {
  readonly #engine: QueueCore
  readonly #finishes: FinishBatcher
  readonly #outlook: NextDue
  readonly #ahead: PrefetchBuffer
  readonly #call: ClaimCall
  /** Somebody has taken a key since keys were given back that nobody had started on. */
  #isInUse = false
  #isClaiming = false
  readonly inFlight: ClaimsInFlight
  #isLookingBeside = false
  #isAskingAlone = false
  /** The last claim brought all that it asked for, so there is probably more. */
  #isPlenty = false
  /** What was due may be what a claim under way brings. */
  #isLandingAwaited = false
  #mustClaimAgain = false
  /** The next claim is made only if the store says that something is due. */
  #asksFirst = false
  #misses = 0
  #holdOffUntil = 0
  #isStopped = false

  constructor(engine: QueueCore, finishes: FinishBatcher, outlook: NextDue) {
    this.#engine = engine
    this.#finishes = finishes
    this.#outlook = outlook
    this.inFlight = new ClaimsInFlight(engine.options.timeoutMs)
    this.#call = new ClaimCall(engine, outlook, {
      isStopped: () => this.#isStopped,
      patiently: (call) => this.patiently(call),
    })
    this.#ahead = new PrefetchBuffer({
      clock: () => engine.handle.clock,
      leaseMs: engine.options.leaseMs,
      giveBack: (held) => {
        this.#isInUse = false
        void giveBack(engine, held)
      },
    })
  }

  refresh(): void {
    this.#outlook.isStale = true
    this.handOut()
  }

  /** Registers the worker of this process with the store, unless that was done lately. */
  async heartbeat(): Promise<void> {
    if (!this.#outlook.isHeartbeatDue) return
    await this.#askAlone()
    if (this.#outlook.mustAsk) this.handOut()
    // It need not ring soon for what is known by now.
    else this.#engine.alarm.set()
  }

  onTimer(): void {
    // The heartbeat has just asked, and nothing is due: one question in ten seconds is enough.
    if (this.#outlook.wasAskedRecently && !this.#outlook.mustAsk) {
      this.#engine.alarm.set()
      return
    }
    // An idle queue asks one thing of its store, when to look again, and claims only if that is now.
    this.#asksFirst = this.#engine.phase === 'open' && !this.#outlook.mustAsk
    // Whoever waits asks whether the queue is paused. If nobody does, it is still to be found out.
    if (this.#ahead.size > 0 && this.#engine.waiters.size === 0) {
      this.#askAlone().catch((error: unknown) => this.#inTrouble(error))
    }
    this.handOut()
  }

  /** Ticks although no getter waits; not again while a tick is under way or waits for its turn. */
  async #askAlone(): Promise<void> {
    if (this.#isAskingAlone) return
    this.#isAskingAlone = true
    try {
      await this.#tick(true)
    } finally {
      this.#isAskingAlone = false
    }
  }

  handOut(): void {
    this.#handOutAhead()
    const { waiters, lifecycle, phase } = this.#engine
    if (lifecycle.isDraining) lifecycle.check()
    if (this.#isStopped || phase === 'closing' || phase === 'closed') return
    // What was due at the time of the shutdown can only be told once that is known.
    if (phase === 'shutting-down' && !lifecycle.isInstantKnown) {
      lifecycle.learnInstant()
      return
    }
    if (waiters.size === 0 && !this.#wantsAhead()) {
      this.#engine.alarm.set()
      return
    }
    this.#mustClaimAgain = true
    if (this.#isClaiming) {
      this.#lookBeside()
      return
    }
    this.#isClaiming = true
    void this.#claimAll()
  }

  #wantsAhead(): boolean {
    const { options, phase, waiters } = this.#engine
    // Half empty, so that keys come in batches; and only for a queue that somebody uses.
    return (
      phase === 'open' &&
      options.prefetch > 0 &&
      this.#isInUse &&
      this.#ahead.size + this.inFlight.keysMax <= options.prefetch / 2 &&
      (waiters.size > 0 || this.#engine.helds.size > this.#ahead.size)
    )
  }

  #handOutAhead(): void {
    const { waiters, clockSteps } = this.#engine
    if (this.#ahead.size > 0 && waiters.size > 0) clockSteps.checkWallClock()
    while (this.#ahead.size > 0) {
      const waiter = waiters.first()
      if (waiter === undefined) return
      const held = this.#ahead.shift()
      if (held === undefined) return
      waiters.remove(waiter)
      this.#isInUse = true
      held.policy = waiter.policy
      this.#engine.deliver(waiter, [held])
    }
  }

  async #claimAll(): Promise<void> {
    try {
      while (this.#mustClaimAgain && !this.#isStopped) {
        this.#mustClaimAgain = false
        // Not after a shutdown: a claim that finds nothing then ends what waits.
        const restMs = this.#holdOffUntil - this.#engine.handle.clock.monotonicMs()
        if (this.#engine.phase === 'open' && restMs > instantSlackMs) return
        // One turn of the microtask queue, so that those who come to wait together are served
        // together, and after what was finished just before.
        await undefined
        try {
          await this.#claimOnce()
        } catch (error) {
          this.#inTrouble(error)
        }
      }
    } finally {
      // In the same turn as the last look at the mark, or one that is raised in between is missed.
      this.#isClaiming = false
      this.#engine.alarm.set()
    }
  }

  /** How many keys one claim more could hand out or keep. */
  #wanted(): number {
    const { waiters, options, phase } = this.#engine
    const ahead = phase === 'open' ? Math.max(0, options.prefetch - this.#ahead.size) : 0
    return Math.min(batchKeysMax, waiters.demand + ahead - this.inFlight.keysMax)
  }

  /**
   * Makes one claim and hands out what it brings; tells how many keys that were. What comes after
   * the claim was given up as too late is handed out all the same.
   */
  #fly(limit: number): Promise<ClaimResult> {
    const flight = this.inFlight.track(limit, this.#bring(limit))
    this.#lookBeside()
    return flight
  }

  async #bring(limit: number): Promise<ClaimResult> {
    const { claims, leaseEnds, isDoubtful } = await this.#call.make(limit)
    this.#isPlenty = claims.length === limit
    if (claims.length > 0) this.#misses = 0
    if (isDoubtful) {
      for (const held of claims) void giveBack(this.#engine, held)
      this.#mustClaimAgain = true
    } else if (!this.#isStopped) this.#handOut(claims)
    const hasCrashed = claims.some(({ crashes }) => crashes > 0)
    return { count: claims.length, hasCrashed, leaseEnds }
  }

  /** Ends leases that a claim found expired, after the keys it brought were handed out. */
  async #endLeases({ leaseEnds }: ClaimResult): Promise<void> {
    if (leaseEnds.length === 0) return
    await this.#engine.attempt(() => this.#outlook.endLeases(leaseEnds), this.#isRef)
    this.#mustClaimAgain = true
  }

  /** Looks, once everybody has come who comes now, whether another claim is to leave at once. */
  #lookBeside(): void {
    const { gate } = this.#engine.handle
    if (!this.#isPlenty || this.#isLookingBeside || this.#wanted() < parallelMin) return
    if (gate.isClosed) return
    this.#isLookingBeside = true
    queueMicrotask(() => {
      this.#isLookingBeside = false
      const { size } = this.inFlight
      if (size === 0 || size >= claimsInFlightMax || this.#isStopped) return
      const { phase, waiters } = this.#engine
      if (phase !== 'open' || (waiters.size === 0 && !this.#wantsAhead())) return
      const limit = this.#wanted()
      if (limit >= parallelMin) void this.#flyBeside(limit)
    })
  }

  async #flyBeside(limit: number): Promise<void> {
    try {
      const brought = await this.#engine.attempt(() => this.#fly(limit), this.#isRef)
      await this.#endLeases(brought)
      const { count, hasCrashed } = brought
      // The mark: this claim found leases that were over, and the loop that looks at it may rest.
      const isAwaited =
        this.#isLandingAwaited || this.#mustClaimAgain || this.#engine.phase !== 'open'
      this.#isLandingAwaited = false
      if (count === limit || hasCrashed || isAwaited) this.handOut()
    } catch (error) {
      this.#inTrouble(error)
    }
  }

  /** Getters go on waiting, unless no repetition can help; attempts are spaced by the gate. */
  #inTrouble(error: unknown): void {
    const { handle, waiters } = this.#engine
    if (this.#isStopped) return
    if (isPermanent(error)) {
      const waiting = waiters.takeAll()
      for (const waiter of waiting) waiter.fail(error)
      if (waiting.length === 0) this.#engine.report(error)
      return
    }
    this.#engine.reportTrouble(error)
    if (!handle.gate.isClosed) handle.gate.failed(error)
    this.refresh()
  }

  async #claimOnce(): Promise<void> {
    const { waiters, phase, lifecycle, handle } = this.#engine
    if (this.#wanted() <= 0) return
    // Once it is known what was due then, there will be another look.
    if (phase === 'shutting-down' && !lifecycle.isInstantKnown) return
    if (this.#asksFirst) {
      this.#asksFirst = false
      const { nextAt, now } = await this.#tick(true)
      if (nextAt > now) return
    }
    const turn = handle.gate.turn(this.#engine, this.#isRef)
    if (turn !== undefined) await turn
    const limit = this.#wanted()
    if (limit <= 0) return handle.gate.pass()
    const { inFlight } = this
    const flownBefore = inFlight.count - inFlight.size
    const brought = await handle.gate.watch(() => this.#fly(limit))
    await this.#endLeases(brought)
    const { count, hasCrashed } = brought
    if (this.#isStopped) return
    if (count === limit) {
      this.#mustClaimAgain = waiters.size > 0
      return
    }
    if (this.#engine.phase === 'shutting-down') {
      // Only a claim that brings nothing says that nothing is left of what was due.
      if (count > 0 || phase !== 'shutting-down') this.#mustClaimAgain = true
      else if (!this.#mustClaimAgain && inFlight.keysMax === 0) await this.#end()
      return
    }
    if (waiters.size === 0) return
    if (hasCrashed) this.#mustClaimAgain = true
    if (this.#outlook.mustAsk) {
      const { nextAt, now } = await this.#tick(false)
      if (nextAt > now) return
      // What was due may be what another claim of ours has brought, or brings and then looks again.
      const wasAlone = inFlight.count === flownBefore + 1
      if (count === 0 && wasAlone) this.#missed()
      else if (inFlight.size === 0) this.#mustClaimAgain = true
      else this.#isLandingAwaited = true
    }
  }

  /** Nothing is left that was due at the shutdown, unless a key comes back just now. */
  async #end(): Promise<void> {
    const settling = this.#finishes.idle()
    if (settling === undefined) {
      for (const waiter of this.#engine.waiters.takeAll()) waiter.answer([])
      return
    }
    await settling
    this.#mustClaimAgain = true
  }

  async #tick(registers: boolean): Promise<TickReply> {
    const reply = await this.#engine.attempt(() => this.#outlook.tick(registers), this.#isRef)
    if (reply.leaseEnds.length > 0) this.#mustClaimAgain = true
    if (reply.paused) void this.releasePrefetched()
    return reply
  }

  get #isRef(): boolean {
    return this.#engine.options.ref
  }

  /** Keys are due, and a claim got none: somebody else has them locked, or was faster. */
  #missed(): void {
    this.#misses += 1
    if (this.#misses === 1) {
      this.#mustClaimAgain = true
      return
    }
    const { clock } = this.#engine.handle
    this.#holdOffUntil = clock.monotonicMs() + retryDelayMs(this.#misses, lockedPatience)
  }

  #handOut(brought: HeldKey<unknown>[]): void {
    const { waiters, phase } = this.#engine
    const claims = brought.filter((held) => held.mayStart())
    // The store has to report when the leases of claims that came too late end.
    if (claims.length < brought.length) this.#outlook.isStale = true
    let at = 0
    while (at < claims.length) {
      const waiter = waiters.first()
      if (waiter === undefined) break
      waiters.remove(waiter)
      this.#isInUse = true
      const helds = claims.slice(at, at + waiter.limit)
      at += helds.length
      for (const held of helds) held.policy = waiter.policy
      this.#engine.deliver(waiter, helds)
    }
    for (const held of claims.slice(at)) {
      if (this.#engine.options.prefetch > this.#ahead.size && phase === 'open') {
        this.#ahead.push(held)
      } else {
        // Those who asked for it have given up meanwhile.
        void giveBack(this.#engine, held)
      }
    }
  }

  alarmSetting(): AlarmSetting {
    const { waiters, lifecycle, phase, handle } = this.#engine
    const isEnded = this.#isStopped || phase === 'closing' || phase === 'closed'
    const isWaitedFor = !isEnded && (waiters.size > 0 || lifecycle.isWatched)
    const isWanted = isWaitedFor || (!isEnded && this.#ahead.size > 0)
    const holdOffMs = this.#holdOffUntil - handle.clock.monotonicMs()
    // What is ready while nobody wants it, as in a drain, is no reason to look again and again.
    const nextAt = waiters.size === 0 ? never : this.#outlook.nextAt
    const inMs = Math.max(nextAt - this.#outlook.now(), holdOffMs)
    return { isWanted, isWaitedFor, inMs }
  }

  async releasePrefetched(): Promise<void> {
    const early = this.#ahead.takeAll()
    this.#isInUse = false
    await Promise.all(early.map((held) => giveBack(this.#engine, held)))
  }

  /** Goes on through trouble with the store, until it answers or the queue is closed. */
  async patiently<R>(call: () => Promise<R>): Promise<R> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await (isFirst ? call() : this.#engine.attempt(call, this.#isRef))
      } catch (error) {
        const isOver = this.#isStopped || this.#engine.phase === 'closed'
        if (isOver || isPermanent(error)) throw error
        this.#engine.reportTrouble(error)
      }
    }
  }

  stop(): void {
    this.#isStopped = true
  }
}
