import { batchKeysMax, never, type TickReply } from '@sluice/core'
import { Ahead } from './ahead.ts'
import type { AlarmSetting } from './alarm.ts'
import { besideMin, claimsMax } from './beside.ts'
import { ClaimCall } from './claim-call.ts'
import { type Brought, ClaimFlights } from './claim-flights.ts'
import type { Engine } from './engine.ts'
import type { FinishLane } from './finish-lane.ts'
import { giveBack } from './give-back.ts'
import type { HeldKey } from './held-key.ts'
import { instantSlackMs } from './instants.ts'
import type { Outlook } from './outlook.ts'
import { jitteredMs } from './patience.ts'
import { isPermanent } from './trouble.ts'

/** How long to wait when keys are due that a claim does not get, since others have them locked. */
const lockedPatience = { first: 5, longest: 1_000 }

/**
 * Claims keys for those who wait, never more than are waited for or may be kept ahead; one claim at a
 * time, unless very many more keys are wanted than that can bring.
 *
 * Whatever may have changed only raises a mark; the one loop that claims looks at the mark before it
 * rests, so that no wake-up falls between looking and resting.
 */
export class Claimer {
  readonly #engine: Engine
  readonly #finishes: FinishLane
  readonly #outlook: Outlook
  readonly #ahead: Ahead
  readonly #call: ClaimCall
  /** Somebody has taken a key since keys were given back that nobody had started on. */
  #isInUse = false
  #isClaiming = false
  readonly flights: ClaimFlights
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

  constructor(engine: Engine, finishes: FinishLane, outlook: Outlook) {
    this.#engine = engine
    this.#finishes = finishes
    this.#outlook = outlook
    this.flights = new ClaimFlights(engine.options.timeoutMs)
    this.#call = new ClaimCall(engine, outlook, {
      isStopped: () => this.#isStopped,
      patiently: (call) => this.patiently(call),
    })
    this.#ahead = new Ahead({
      clock: () => engine.store.clock,
      leaseMs: engine.options.leaseMs,
      giveBack: (held) => {
        this.#isInUse = false
        void giveBack(engine, held)
      },
    })
  }

  look(): void {
    this.#outlook.isStale = true
    this.serve()
  }

  /** Registers the worker of this process with the store, unless that was done lately. */
  async heartbeat(): Promise<void> {
    if (!this.#outlook.isBeatDue) return
    await this.#askAlone()
    if (this.#outlook.isOver) this.serve()
    // It need not ring soon for what is known by now.
    else this.#engine.alarm.set()
  }

  ring(): void {
    // The heartbeat has just asked, and nothing is due: one question in ten seconds is enough.
    if (this.#outlook.wasAskedLately && !this.#outlook.isOver) {
      this.#engine.alarm.set()
      return
    }
    // An idle queue asks one thing of its store, when to look again, and claims only if that is now.
    this.#asksFirst = this.#engine.phase === 'open' && !this.#outlook.isOver
    // Whoever waits asks whether the queue is paused. If nobody does, it is still to be found out.
    if (this.#ahead.size > 0 && this.#engine.waiters.size === 0) {
      this.#askAlone().catch((error: unknown) => this.#inTrouble(error))
    }
    this.serve()
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

  serve(): void {
    this.#handOutAhead()
    const { waiters, ending, phase } = this.#engine
    if (ending.isDraining) ending.check()
    if (this.#isStopped || phase === 'closing' || phase === 'closed') return
    // What was due at the time of the shutdown can only be told once that is known.
    if (phase === 'shutting-down' && !ending.isInstantKnown) {
      ending.findInstant()
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
      this.#ahead.size + this.flights.coming <= options.prefetch / 2 &&
      (waiters.size > 0 || this.#engine.helds.size > this.#ahead.size)
    )
  }

  #handOutAhead(): void {
    const { waiters, steps } = this.#engine
    if (this.#ahead.size > 0 && waiters.size > 0) steps.look()
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
        const restMs = this.#holdOffUntil - this.#engine.store.clock.monotonicMs()
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
    return Math.min(batchKeysMax, waiters.demand + ahead - this.flights.coming)
  }

  /**
   * Makes one claim and hands out what it brings; tells how many keys that were. What comes after
   * the claim was given up as too late is handed out all the same.
   */
  #fly(limit: number): Promise<Brought> {
    const flight = this.flights.fly(limit, this.#bring(limit))
    this.#lookBeside()
    return flight
  }

  async #bring(limit: number): Promise<Brought> {
    const { claims, leaseEnds, isDoubtful } = await this.#call.make(limit)
    this.#isPlenty = claims.length === limit
    if (isDoubtful && claims.length > 0) {
      // Spaced like claims in vain: a store whose answers keep contradicting each other is not stormed.
      for (const held of claims) void giveBack(this.#engine, held)
      this.#missed()
    } else {
      if (claims.length > 0) this.#misses = 0
      if (!this.#isStopped) this.#handOut(claims)
    }
    const hasCrashed = claims.some(({ crashes }) => crashes > 0)
    return { count: claims.length, hasCrashed, leaseEnds }
  }

  /** Ends leases that a claim found expired, after the keys it brought were handed out. */
  async #endLeases({ leaseEnds }: Brought): Promise<void> {
    if (leaseEnds.length === 0) return
    await this.#engine.attempt(() => this.#outlook.endLeases(leaseEnds), this.#isRef)
    this.#mustClaimAgain = true
  }

  /** Looks, once everybody has come who comes now, whether another claim is to leave at once. */
  #lookBeside(): void {
    const { gate } = this.#engine.store
    if (!this.#isPlenty || this.#isLookingBeside || this.#wanted() < besideMin) return
    if (gate.isClosed) return
    this.#isLookingBeside = true
    queueMicrotask(() => {
      this.#isLookingBeside = false
      const { size } = this.flights
      if (size === 0 || size >= claimsMax || this.#isStopped) return
      const { phase, waiters } = this.#engine
      if (phase !== 'open' || (waiters.size === 0 && !this.#wantsAhead())) return
      const limit = this.#wanted()
      if (limit >= besideMin) void this.#flyBeside(limit)
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
      if (count === limit || hasCrashed || isAwaited) this.serve()
    } catch (error) {
      this.#inTrouble(error)
    }
  }

  /** Getters go on waiting, unless no repetition can help; attempts are spaced by the gate. */
  #inTrouble(error: unknown): void {
    const { store, waiters } = this.#engine
    if (this.#isStopped) return
    if (isPermanent(error)) {
      const waiting = waiters.takeAll()
      for (const waiter of waiting) waiter.fail(error)
      if (waiting.length === 0) this.#engine.report(error)
      return
    }
    this.#engine.reportTrouble(error)
    if (!store.gate.isClosed) store.gate.failed(error)
    this.look()
  }

  async #claimOnce(): Promise<void> {
    const { waiters, phase, ending, store } = this.#engine
    if (this.#wanted() <= 0) return
    // Once it is known what was due then, there will be another look.
    if (phase === 'shutting-down' && !ending.isInstantKnown) return
    if (this.#asksFirst) {
      this.#asksFirst = false
      const { nextAt, now } = await this.#tick(true)
      if (nextAt > now) return
    }
    const turn = store.gate.turn(this.#engine, this.#isRef)
    if (turn !== undefined) await turn
    const limit = this.#wanted()
    if (limit <= 0) return store.gate.pass()
    const { flights } = this
    const flownBefore = flights.count - flights.size
    const brought = await store.gate.watch(() => this.#fly(limit))
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
      else if (!this.#mustClaimAgain && flights.coming === 0) await this.#end()
      return
    }
    if (waiters.size === 0) return
    if (hasCrashed) this.#mustClaimAgain = true
    if (this.#outlook.isOver) {
      const { nextAt, now } = await this.#tick(false)
      if (nextAt > now) return
      // What was due may be what another claim of ours has brought, or brings and then looks again.
      const wasAlone = flights.count === flownBefore + 1
      if (count === 0 && wasAlone) this.#missed()
      else if (flights.size === 0) this.#mustClaimAgain = true
      else this.#isLandingAwaited = true
    }
  }

  /** Nothing is left that was due at the shutdown, unless a key comes back just now. */
  async #end(): Promise<void> {
    const settling = this.#finishes.settled()
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
    if (reply.paused) void this.giveBackAhead()
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
    const { clock } = this.#engine.store
    this.#holdOffUntil = clock.monotonicMs() + jitteredMs(this.#misses, lockedPatience)
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

  alarm(): AlarmSetting {
    const { waiters, ending, phase, store } = this.#engine
    const isEnded = this.#isStopped || phase === 'closing' || phase === 'closed'
    const isWaitedFor = !isEnded && (waiters.size > 0 || ending.isWatched)
    const isWanted = isWaitedFor || (!isEnded && this.#ahead.size > 0)
    const holdOffMs = this.#holdOffUntil - store.clock.monotonicMs()
    // What is ready while nobody wants it, as in a drain, is no reason to look again and again.
    const nextAt = waiters.size === 0 ? never : this.#outlook.nextAt
    const inMs = Math.max(nextAt - this.#outlook.now(), holdOffMs)
    return { isWanted, isWaitedFor, inMs }
  }

  async giveBackAhead(): Promise<void> {
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
