import { never, type TickReply, type Timer } from '@sluice/core'
import type { AlarmSetting } from '../../core/alarm.ts'
import type { Claims } from '../../core/backend.ts'
import type { QueueCore } from '../../core/queue-core.ts'
import { isPermanent, retryDelayMs } from '../../driver/retryable.ts'
import { instantSlackMs } from '../../environment/timing.ts'
import { giveBack, mayStart } from '../../held/give-back.ts'
import type { HeldKey, HeldPolicy } from '../../held/held-key.ts'
import type { FinishBatcher } from '../finish-batcher.ts'
import { claimsInFlightMax, parallelMin } from '../in-flight-limits.ts'
import { type ClaimCaller, type ClaimResult, ClaimsInFlight, claimOnce } from './claim-once.ts'
import type { NextDue } from './next-due.ts'
import { Prefetching, type PrefetchLimits } from './prefetching.ts'
import { untilAnswered } from './until-answered.ts'

/** How long to wait when keys are due that a claim does not get, since other sessions lock them. */
const lockedDelay = { first: 5, longest: 1_000 }
/** How often a drain without waiters asks: no other process tells when it takes the last keys. */
const drainPollMs = 1_000

/**
 * Claims keys for the waiters, never more than are waited for or may be prefetched; one claim at a
 * time, unless the waiters want many more keys than one claim can bring.
 *
 * A change only sets a flag, `#mustClaimAgain`. The one loop that claims checks the flag before it
 * rests, so that no wake-up falls between checking and resting.
 */
export class ClaimLoop implements Claims, ClaimCaller {
  readonly #core: QueueCore
  readonly #finishes: FinishBatcher
  readonly #nextDue: NextDue
  readonly #prefetching: Prefetching
  #isClaiming = false
  readonly inFlight: ClaimsInFlight
  #isConsideringParallel = false
  #isHeartbeatInFlight = false
  /** The last claim brought as many keys as its limit, so there are probably more. */
  #wasFull = false
  /** A claim in flight may bring the keys that are due. */
  #mayBeInFlight = false
  #mustClaimAgain = false
  /** The next claim is made only if the store says that something is due. */
  #ticksFirst = false
  #misses = 0
  #holdOffUntil = 0
  /** Other keys may have become claimable since the last claim was begun. */
  #hadNews = false
  /** A clock had stepped during the last claim, whose keys were given back. */
  #wasDoubtful = false
  isStopped = false
  readonly lateLooks: Set<Timer> = new Set()

  constructor(core: QueueCore, finishes: FinishBatcher, nextDue: NextDue) {
    this.#core = core
    this.#finishes = finishes
    this.#nextDue = nextDue
    this.inFlight = new ClaimsInFlight(core.calls.options.timeoutMs)
    this.#prefetching = new Prefetching(core, this.inFlight, nextDue)
  }

  refresh(): void {
    this.#nextDue.isStale = true
    this.handOut(true)
  }

  /** Registers the worker of this process with the store, unless that was done recently. */
  async heartbeat(): Promise<void> {
    const { calls, waiters } = this.#core
    const isQuiet = waiters.size > 0 && !calls.needsNews
    if (isQuiet || this.#isHeartbeatInFlight || !this.#nextDue.isHeartbeatDue) return
    this.#isHeartbeatInFlight = true
    try {
      // What workers do until the next heartbeat would be missing in the history. Waiters keep the process
      // alive, this does not.
      const tick = () => this.#tick(true, false)
      await untilAnswered(this.#core, tick, () => this.#core.phase !== 'open', tick)
    } finally {
      this.#isHeartbeatInFlight = false
      // Also if it failed: a claim that found nothing meanwhile has left it to this tick to ask.
      if (this.#nextDue.mustAsk) this.handOut()
      // The alarm may have been set for something that is known by now.
      else this.#core.alarm.set()
    }
  }

  isIdleSince(instant: number): boolean {
    if (this.#isClaiming || this.#isHeartbeatInFlight || this.#prefetching.size > 0) return false
    return this.#core.waiters.size === 0 || this.#nextDue.isNothingDueSince(instant)
  }

  onTimer(): void {
    // A quiet queue makes no call; the alarm goes on, for the next key that is due.
    if (this.#core.calls.quiet.rest()) {
      this.#core.alarm.set()
      return
    }
    // The heartbeat has just asked, and nothing is due: one call in ten seconds is enough.
    if (this.#nextDue.wasAskedRecently && !this.#nextDue.mustAsk) {
      this.#core.alarm.set()
      return
    }
    // An idle queue makes one call, which asks when the next key is due, and claims only if that is
    // now.
    this.#ticksFirst = this.#core.phase === 'open' && !this.#nextDue.mustAsk
    this.handOut()
  }

  handOut(isNews = false): void {
    // While another session has locked a key, others are not late for it.
    this.#hadNews ||= isNews && !this.#wasDoubtful
    if (this.#hadNews) this.#holdOffUntil = 0
    this.#prefetching.handOut()
    const { waiters, lifecycle, phase } = this.#core
    if (lifecycle.isDraining) lifecycle.check()
    if (phase === 'closing' || phase === 'closed') return
    // The keys that were due at the shutdown are only known once its time is.
    if (phase === 'shutting-down' && !lifecycle.isInstantKnown) {
      lifecycle.learnInstant()
      return
    }
    if (waiters.size === 0 && !this.#wantsPrefetch()) {
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

  takeAhead(policy: HeldPolicy): HeldKey<unknown> | undefined {
    // A close gives the keys back, but only once adds are stored; a wait ends at once.
    if (this.#core.phase !== 'open') return undefined
    const held = this.#prefetching.take(policy)
    // Perhaps it is time to claim the next ones.
    if (held !== undefined) this.handOut()
    return held
  }

  get beyondSlotsMax(): number {
    return this.#prefetching.beyondSlotsMax
  }

  onRan(ms: number): void {
    this.#prefetching.noteRun(ms)
  }

  onAcknowledged(): void {
    if (this.#isClaiming) this.#considerParallel()
    else if (this.#wantsPrefetch()) this.handOut()
  }

  #wantsPrefetch(): boolean {
    return this.#core.waiters.size === 0 && this.#wasFull && this.#prefetching.isWanted()
  }

  async #claimAll(): Promise<void> {
    try {
      while (this.#mustClaimAgain && !this.isStopped) {
        this.#mustClaimAgain = false
        // Not after a shutdown: a claim that finds nothing then ends the waiters.
        const restMs = this.#holdOffUntil - this.#core.calls.handle.clock.monotonicMs()
        if (this.#core.phase === 'open' && restMs > instantSlackMs) return
        // One turn of the microtask queue, so that waiters that come together are answered
        // together, after the finishes of this turn.
        await undefined
        this.#hadNews = false
        try {
          await this.#claimNext()
        } catch (error) {
          this.#onError(error)
        }
      }
    } finally {
      // In the same turn as the last check of the flag, or one that is set in between is missed.
      this.#isClaiming = false
      this.#core.alarm.set()
    }
  }

  /** How many keys one claim more could hand out or keep. */
  #wanted(): number {
    const ahead = this.#prefetching.room() - this.inFlight.keysMax
    return Math.min(this.#prefetching.claimMax, this.#core.waiters.demand + ahead)
  }

  /**
   * Makes one claim and hands out its keys. Keys that arrive after the claim was given up as too
   * late are handed out all the same.
   */
  #claim(limit: number): Promise<ClaimResult> {
    const result = this.inFlight.track(limit, this.#bring(limit))
    this.#considerParallel()
    return result
  }

  async #bring(limit: number): Promise<ClaimResult> {
    const { clock } = this.#core.calls.handle
    const sentAt = clock.monotonicMs()
    const { limits } = this.#prefetching
    const claimed = await claimOnce(this.#core, this.#nextDue, this, limit)
    const { claims, leaseEnds, isDoubtful } = claimed
    this.#wasFull = claims.length === limit
    if (claims.length > 0) this.#prefetching.noteClaim(clock.monotonicMs() - sentAt, claims.length)
    this.#wasDoubtful = isDoubtful && claims.length > 0
    if (this.#wasDoubtful) {
      // Spaced like claims in vain: a store whose answers keep contradicting each other is not stormed.
      for (const held of claims) void giveBack(held)
      // They are due all the while, so that the alarm waits for no heartbeat.
      this.#nextDue.nextAt = this.#nextDue.now()
      this.#onMiss()
    } else {
      if (claims.length > 0) this.#misses = 0
      if (!this.isStopped) this.#deliver(claims, limits)
    }
    const hasCrashed = claims.some(({ crashes }) => crashes > 1)
    return { count: claims.length, hasCrashed, leaseEnds }
  }

  /** Ends leases that a claim found expired, after the keys it brought were handed out. */
  async #endLeases({ leaseEnds }: ClaimResult): Promise<void> {
    if (leaseEnds.length === 0) return
    await this.#core.calls.attempt(() => this.#nextDue.endLeases(leaseEnds), this.#isRef)
    this.#mustClaimAgain = true
  }

  /**
   * Makes another claim in parallel if, after all waiters of this turn, very many keys are wanted.
   */
  #considerParallel(): void {
    const { gate } = this.#core.calls.handle
    if (!this.#wasFull || this.#isConsideringParallel || this.#wanted() < parallelMin) return
    if (gate.isClosed) return
    this.#isConsideringParallel = true
    queueMicrotask(() => {
      this.#isConsideringParallel = false
      const { size } = this.inFlight
      if (size === 0 || size >= claimsInFlightMax) return
      const { phase, waiters } = this.#core
      if (phase !== 'open' || (waiters.size === 0 && !this.#wantsPrefetch())) return
      const limit = this.#wanted()
      if (limit >= parallelMin) void this.#claimInParallel(limit)
    })
  }

  async #claimInParallel(limit: number): Promise<void> {
    try {
      const brought = await this.#core.calls.attempt(() => this.#claim(limit), this.#isRef)
      await this.#endLeases(brought)
      const { count, hasCrashed } = brought
      // The flag: this claim found expired leases, and the loop that checks the flag may rest.
      const isAwaited = this.#mayBeInFlight || this.#mustClaimAgain || this.#core.phase !== 'open'
      this.#mayBeInFlight = false
      if (count === limit || hasCrashed || isAwaited) this.handOut()
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Waiters keep waiting, unless the error is permanent; the gate spaces the attempts. */
  #onError(error: unknown): void {
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
    // Once the time of the shutdown is known, handOut() is called again.
    if (phase === 'shutting-down' && !lifecycle.isInstantKnown) return
    if (this.#ticksFirst) {
      this.#ticksFirst = false
      const { nextAt, now } = await this.#tick(true)
      if (nextAt > now) return
    }
    const turn = gate.turn(calls, this.#isRef)
    if (turn !== undefined) await turn
    const limit = this.#wanted()
    if (limit <= 0) return gate.pass()
    const { inFlight } = this
    const countBefore = inFlight.count - inFlight.size
    const brought = await gate.watch(() => this.#claim(limit))
    await this.#endLeases(brought)
    const { count, hasCrashed } = brought
    if (this.isStopped) return
    if (count === limit) {
      this.#mustClaimAgain = waiters.size > 0
      return
    }
    if (this.#core.phase === 'shutting-down') {
      // Only a claim that brings nothing shows that no key is left that was due.
      if (count > 0 || phase !== 'shutting-down') this.#mustClaimAgain = true
      else if (!this.#mustClaimAgain && inFlight.keysMax === 0) await this.#end()
      return
    }
    if (waiters.size === 0) return
    if (hasCrashed) this.#mustClaimAgain = true
    if (this.#nextDue.mustAsk) {
      const { nextAt, now } = await this.#tick(false)
      if (nextAt > now) {
        // Other sessions were faster: the next key that is due is no repetition.
        this.#misses = 0
        return
      }
      // Another claim of this process may have brought the due keys, or may bring them and then claim again.
      const wasAlone = inFlight.count === countBefore + 1
      if (count === 0 && wasAlone) this.#onMiss()
      else if (inFlight.size === 0) this.#mustClaimAgain = true
      else this.#mayBeInFlight = true
    }
  }

  /** No key is left that was due at the shutdown, unless one is being given back now. */
  async #end(): Promise<void> {
    const finishing = this.#finishes.answered()
    if (finishing === undefined) {
      for (const waiter of this.#core.waiters.takeAll()) waiter.answer([])
      return
    }
    await finishing
    this.#mustClaimAgain = true
  }

  async #tick(registers: boolean, isRef = this.#isRef): Promise<TickReply> {
    const reply = await this.#core.calls.attempt(() => this.#nextDue.tick(registers), isRef)
    if (reply.leaseEnds.length > 0) this.#mustClaimAgain = true
    return reply
  }

  get #isRef(): boolean {
    return this.#core.calls.options.ref
  }

  /** Keys are due, and a claim got none: another session has locked them, or was faster. */
  #onMiss(): void {
    this.#misses += 1
    if (this.#misses === 1) this.#mustClaimAgain = true
    if (this.#misses === 1 || this.#hadNews) return
    const { clock } = this.#core.calls.handle
    this.#holdOffUntil = clock.monotonicMs() + retryDelayMs(this.#misses, lockedDelay)
  }

  /** Hands out the keys of a claim; as many as the limits allow may stay for workers. */
  #deliver(brought: HeldKey<unknown>[], limits: PrefetchLimits): void {
    const { waiters } = this.#core
    const claims = brought.filter(mayStart)
    // The store has to report when the leases of claims that came too late expire.
    if (claims.length < brought.length) this.#nextDue.isStale = true
    let at = 0
    while (at < claims.length) {
      const waiter = waiters.first()
      if (waiter === undefined) break
      waiters.remove(waiter)
      if (waiter.group !== undefined) this.#prefetching.noteUse()
      const helds = claims.slice(at, at + waiter.limit)
      at += helds.length
      for (const held of helds) held.policy = waiter.policy
      this.#core.deliver(waiter, helds)
    }
    this.#prefetching.keep(claims.slice(at), limits)
  }

  alarmSetting(): AlarmSetting {
    const { calls, waiters, lifecycle, phase } = this.#core
    const isEnded = phase === 'closing' || phase === 'closed'
    const isWaitedFor = !isEnded && (waiters.size > 0 || lifecycle.isWatched)
    const isWanted =
      isWaitedFor || (!isEnded && (this.#prefetching.size > 0 || calls.quiet.mayEndWatch))
    const holdOffMs = this.#holdOffUntil - calls.handle.clock.monotonicMs()
    const unaskedMs = lifecycle.isDraining ? drainPollMs : never
    const inMs = waiters.size === 0 ? unaskedMs : this.#nextDue.nextAt - this.#nextDue.now()
    return { isWanted, isWaitedFor, inMs: Math.max(inMs, holdOffMs) }
  }

  releasePrefetched(): Promise<void> {
    return this.#prefetching.release()
  }

  giveBackExpired(): void {
    this.#prefetching.giveBackExpired()
  }

  stop(): void {
    this.isStopped = true
    for (const look of this.lateLooks) look.stop()
  }
}
