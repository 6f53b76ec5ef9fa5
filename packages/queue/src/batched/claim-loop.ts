import { batchKeysMax, never, type TickReply } from '@sluice/core'
import type { AlarmSetting } from '../core/alarm.ts'
import type { Claims } from '../core/backend.ts'
import type { QueueCore } from '../core/queue-core.ts'
import { isPermanent, retryDelayMs } from '../driver/retryable.ts'
import { instantSlackMs } from '../environment/timing.ts'
import { giveBack } from '../held/give-back.ts'
import type { HeldKey } from '../held/held-key.ts'
import { type ClaimCaller, type ClaimResult, ClaimsInFlight, claimOnce } from './claim-once.ts'
import type { FinishBatcher } from './finish-batcher.ts'
import { claimsInFlightMax, parallelMin } from './in-flight-limits.ts'
import type { NextDue } from './next-due.ts'
import { PrefetchBuffer } from './prefetch-buffer.ts'

/** How long to wait when keys are due that a claim does not get, since others have them locked. */
const lockedDelay = { first: 5, longest: 1_000 }

/**
 * Claims keys for those who wait, never more than are waited for or may be kept ahead; one claim at a
 * time, unless very many more keys are wanted than that can bring.
 *
 * Whatever may have changed only raises a mark; the one loop that claims looks at the mark before it
 * rests, so that no wake-up falls between looking and resting.
 */
export class ClaimLoop implements Claims, ClaimCaller {
  readonly #core: QueueCore
  readonly #finishes: FinishBatcher
  readonly #nextDue: NextDue
  readonly #prefetched: PrefetchBuffer
  /** Somebody has taken a key since keys were given back that nobody had started on. */
  #isInUse = false
  #isClaiming = false
  readonly inFlight: ClaimsInFlight
  #isConsideringParallel = false
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
  isStopped = false

  constructor(core: QueueCore, finishes: FinishBatcher, nextDue: NextDue) {
    this.#core = core
    this.#finishes = finishes
    this.#nextDue = nextDue
    this.inFlight = new ClaimsInFlight(core.calls.options.timeoutMs)
    this.#prefetched = new PrefetchBuffer({
      clock: () => core.calls.handle.clock,
      leaseMs: core.calls.options.leaseMs,
      giveBack: (held) => {
        this.#isInUse = false
        void giveBack(held)
      },
    })
  }

  refresh(): void {
    this.#nextDue.isStale = true
    this.handOut()
  }

  /** Registers the worker of this process with the store, unless that was done lately. */
  async heartbeat(): Promise<void> {
    if (!this.#nextDue.isHeartbeatDue) return
    await this.#askAlone()
    if (this.#nextDue.mustAsk) this.handOut()
    // It need not ring soon for what is known by now.
    else this.#core.alarm.set()
  }

  onTimer(): void {
    // The heartbeat has just asked, and nothing is due: one question in ten seconds is enough.
    if (this.#nextDue.wasAskedRecently && !this.#nextDue.mustAsk) {
      this.#core.alarm.set()
      return
    }
    // An idle queue asks one thing of its store, when to look again, and claims only if that is now.
    this.#asksFirst = this.#core.phase === 'open' && !this.#nextDue.mustAsk
    // Whoever waits asks whether the queue is paused. If nobody does, it is still to be found out.
    if (this.#prefetched.size > 0 && this.#core.waiters.size === 0) {
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
    const { waiters, lifecycle, phase } = this.#core
    if (lifecycle.isDraining) lifecycle.check()
    if (this.isStopped || phase === 'closing' || phase === 'closed') return
    // What was due at the time of the shutdown can only be told once that is known.
    if (phase === 'shutting-down' && !lifecycle.isInstantKnown) {
      lifecycle.learnInstant()
      return
    }
    if (waiters.size === 0 && !this.#wantsAhead()) {
      this.#core.alarm.set()
      return
    }
    this.#mustClaimAgain = true
    if (this.#isClaiming) {
      this.#considerParallel()
      return
    }
    this.#isClaiming = true
    void this.#claimAll()
  }

  #wantsAhead(): boolean {
    const { calls, phase, waiters } = this.#core
    const { options } = calls
    // Half empty, so that keys come in batches; and only for a queue that somebody uses.
    return (
      phase === 'open' &&
      options.prefetch > 0 &&
      this.#isInUse &&
      this.#prefetched.size + this.inFlight.keysMax <= options.prefetch / 2 &&
      (waiters.size > 0 || this.#core.helds.size > this.#prefetched.size)
    )
  }

  #handOutAhead(): void {
    const { waiters, clockSteps } = this.#core
    if (this.#prefetched.size > 0 && waiters.size > 0) clockSteps.checkWallClock()
    while (this.#prefetched.size > 0) {
      const waiter = waiters.first()
      if (waiter === undefined) return
      const held = this.#prefetched.shift()
      if (held === undefined) return
      waiters.remove(waiter)
      this.#isInUse = true
      held.policy = waiter.policy
      this.#core.deliver(waiter, [held])
    }
  }

  async #claimAll(): Promise<void> {
    try {
      while (this.#mustClaimAgain && !this.isStopped) {
        this.#mustClaimAgain = false
        // Not after a shutdown: a claim that finds nothing then ends what waits.
        const restMs = this.#holdOffUntil - this.#core.calls.handle.clock.monotonicMs()
        if (this.#core.phase === 'open' && restMs > instantSlackMs) return
        // One turn of the microtask queue, so that those who come to wait together are served
        // together, and after what was finished just before.
        await undefined
        try {
          await this.#claimNext()
        } catch (error) {
          this.#inTrouble(error)
        }
      }
    } finally {
      // In the same turn as the last look at the mark, or one that is raised in between is missed.
      this.#isClaiming = false
      this.#core.alarm.set()
    }
  }

  /** How many keys one claim more could hand out or keep. */
  #wanted(): number {
    const { calls, waiters, phase } = this.#core
    const ahead = phase === 'open' ? Math.max(0, calls.options.prefetch - this.#prefetched.size) : 0
    return Math.min(batchKeysMax, waiters.demand + ahead - this.inFlight.keysMax)
  }

  /**
   * Makes one claim and hands out what it brings; tells how many keys that were. What comes after
   * the claim was given up as too late is handed out all the same.
   */
  #claim(limit: number): Promise<ClaimResult> {
    const flight = this.inFlight.track(limit, this.#bring(limit))
    this.#considerParallel()
    return flight
  }

  async #bring(limit: number): Promise<ClaimResult> {
    const { claims, leaseEnds, isDoubtful } = await claimOnce(
      this.#core,
      this.#nextDue,
      this,
      limit,
    )
    this.#isPlenty = claims.length === limit
    if (claims.length > 0) this.#misses = 0
    if (isDoubtful) {
      for (const held of claims) void giveBack(held)
      this.#mustClaimAgain = true
    } else if (!this.isStopped) this.#handOut(claims)
    const hasCrashed = claims.some(({ crashes }) => crashes > 0)
    return { count: claims.length, hasCrashed, leaseEnds }
  }

  /** Ends leases that a claim found expired, after the keys it brought were handed out. */
  async #endLeases({ leaseEnds }: ClaimResult): Promise<void> {
    if (leaseEnds.length === 0) return
    await this.#core.calls.attempt(() => this.#nextDue.endLeases(leaseEnds), this.#isRef)
    this.#mustClaimAgain = true
  }

  /** Looks, once everybody has come who comes now, whether another claim is to leave at once. */
  #considerParallel(): void {
    const { gate } = this.#core.calls.handle
    if (!this.#isPlenty || this.#isConsideringParallel || this.#wanted() < parallelMin) return
    if (gate.isClosed) return
    this.#isConsideringParallel = true
    queueMicrotask(() => {
      this.#isConsideringParallel = false
      const { size } = this.inFlight
      if (size === 0 || size >= claimsInFlightMax || this.isStopped) return
      const { phase, waiters } = this.#core
      if (phase !== 'open' || (waiters.size === 0 && !this.#wantsAhead())) return
      const limit = this.#wanted()
      if (limit >= parallelMin) void this.#claimInParallel(limit)
    })
  }

  async #claimInParallel(limit: number): Promise<void> {
    try {
      const brought = await this.#core.calls.attempt(() => this.#claim(limit), this.#isRef)
      await this.#endLeases(brought)
      const { count, hasCrashed } = brought
      // The mark: this claim found leases that were over, and the loop that looks at it may rest.
      const isAwaited =
        this.#isLandingAwaited || this.#mustClaimAgain || this.#core.phase !== 'open'
      this.#isLandingAwaited = false
      if (count === limit || hasCrashed || isAwaited) this.handOut()
    } catch (error) {
      this.#inTrouble(error)
    }
  }

  /** Getters go on waiting, unless no repetition can help; attempts are spaced by the gate. */
  #inTrouble(error: unknown): void {
    const { calls, waiters } = this.#core
    if (this.isStopped) return
    if (isPermanent(error)) {
      const waiting = waiters.takeAll()
      for (const waiter of waiting) waiter.fail(error)
      if (waiting.length === 0) calls.report(error)
      return
    }
    calls.reportTrouble(error)
    if (!calls.handle.gate.isClosed) calls.handle.gate.failed(error)
    this.refresh()
  }

  async #claimNext(): Promise<void> {
    const { calls, waiters, phase, lifecycle } = this.#core
    const { gate } = calls.handle
    if (this.#wanted() <= 0) return
    // Once it is known what was due then, there will be another look.
    if (phase === 'shutting-down' && !lifecycle.isInstantKnown) return
    if (this.#asksFirst) {
      this.#asksFirst = false
      const { nextAt, now } = await this.#tick(true)
      if (nextAt > now) return
    }
    const turn = gate.turn(calls, this.#isRef)
    if (turn !== undefined) await turn
    const limit = this.#wanted()
    if (limit <= 0) return gate.pass()
    const { inFlight } = this
    const flownBefore = inFlight.count - inFlight.size
    const brought = await gate.watch(() => this.#claim(limit))
    await this.#endLeases(brought)
    const { count, hasCrashed } = brought
    if (this.isStopped) return
    if (count === limit) {
      this.#mustClaimAgain = waiters.size > 0
      return
    }
    if (this.#core.phase === 'shutting-down') {
      // Only a claim that brings nothing says that nothing is left of what was due.
      if (count > 0 || phase !== 'shutting-down') this.#mustClaimAgain = true
      else if (!this.#mustClaimAgain && inFlight.keysMax === 0) await this.#end()
      return
    }
    if (waiters.size === 0) return
    if (hasCrashed) this.#mustClaimAgain = true
    if (this.#nextDue.mustAsk) {
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
      for (const waiter of this.#core.waiters.takeAll()) waiter.answer([])
      return
    }
    await settling
    this.#mustClaimAgain = true
  }

  async #tick(registers: boolean): Promise<TickReply> {
    const reply = await this.#core.calls.attempt(() => this.#nextDue.tick(registers), this.#isRef)
    if (reply.leaseEnds.length > 0) this.#mustClaimAgain = true
    if (reply.paused) void this.releasePrefetched()
    return reply
  }

  get #isRef(): boolean {
    return this.#core.calls.options.ref
  }

  /** Keys are due, and a claim got none: somebody else has them locked, or was faster. */
  #missed(): void {
    this.#misses += 1
    if (this.#misses === 1) {
      this.#mustClaimAgain = true
      return
    }
    const { clock } = this.#core.calls.handle
    this.#holdOffUntil = clock.monotonicMs() + retryDelayMs(this.#misses, lockedDelay)
  }

  #handOut(brought: HeldKey<unknown>[]): void {
    const { waiters, phase } = this.#core
    const claims = brought.filter((held) => held.mayStart())
    // The store has to report when the leases of claims that came too late end.
    if (claims.length < brought.length) this.#nextDue.isStale = true
    let at = 0
    while (at < claims.length) {
      const waiter = waiters.first()
      if (waiter === undefined) break
      waiters.remove(waiter)
      this.#isInUse = true
      const helds = claims.slice(at, at + waiter.limit)
      at += helds.length
      for (const held of helds) held.policy = waiter.policy
      this.#core.deliver(waiter, helds)
    }
    for (const held of claims.slice(at)) {
      if (this.#core.calls.options.prefetch > this.#prefetched.size && phase === 'open') {
        this.#prefetched.push(held)
      } else {
        // Those who asked for it have given up meanwhile.
        void giveBack(held)
      }
    }
  }

  alarmSetting(): AlarmSetting {
    const { calls, waiters, lifecycle, phase } = this.#core
    const isEnded = this.isStopped || phase === 'closing' || phase === 'closed'
    const isWaitedFor = !isEnded && (waiters.size > 0 || lifecycle.isWatched)
    const isWanted = isWaitedFor || (!isEnded && this.#prefetched.size > 0)
    const holdOffMs = this.#holdOffUntil - calls.handle.clock.monotonicMs()
    // What is ready while nobody wants it, as in a drain, is no reason to look again and again.
    const nextAt = waiters.size === 0 ? never : this.#nextDue.nextAt
    const inMs = Math.max(nextAt - this.#nextDue.now(), holdOffMs)
    return { isWanted, isWaitedFor, inMs }
  }

  async releasePrefetched(): Promise<void> {
    const early = this.#prefetched.takeAll()
    this.#isInUse = false
    await Promise.all(early.map((held) => giveBack(held)))
  }

  /** Goes on through trouble with the store, until it answers or the queue is closed. */
  async patiently<R>(call: () => Promise<R>): Promise<R> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await (isFirst ? call() : this.#core.calls.attempt(call, this.#isRef))
      } catch (error) {
        const isOver = this.isStopped || this.#core.phase === 'closed'
        if (isOver || isPermanent(error)) throw error
        this.#core.calls.reportTrouble(error)
      }
    }
  }

  stop(): void {
    this.isStopped = true
  }
}
