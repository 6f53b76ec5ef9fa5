import { randomUUID } from 'node:crypto'
import {
  batchKeysMax,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  never,
  SluiceError,
  type TickReply,
} from '@sluice/core'
import { Ahead } from './ahead.ts'
import type { AlarmSetting } from './alarm.ts'
import type { Engine } from './engine.ts'
import type { FinishLane } from './finish-lane.ts'
import { HeldKey, type HeldPolicy } from './held-key.ts'
import { instantSlackMs } from './instants.ts'
import type { Outlook } from './outlook.ts'
import { jitteredMs } from './patience.ts'
import { isTrouble, troublePatience } from './trouble.ts'

/** How long to wait when keys are due that a claim does not get, since others have them locked. */
const lockedPatience = { first: 5, longest: 1_000 }

/**
 * Claims keys for those who wait, never more than are waited for or may be kept ahead, and never two
 * claims at a time.
 *
 * Whatever may have changed only raises a mark; the one loop that claims looks at the mark before it
 * rests, so that no wake-up falls between looking and resting.
 */
export class Claimer {
  readonly #engine: Engine
  readonly #finishes: FinishLane
  readonly #outlook: Outlook
  readonly #ahead: Ahead
  /** Somebody has taken a key since keys were given back that nobody had started on. */
  #isInUse = false
  #isClaiming = false
  #mustClaimAgain = false
  /** The next claim is made only if the store says that something is due. */
  #asksFirst = false
  #troubles = 0
  #misses = 0
  #holdOffUntil = 0
  #isStopped = false

  constructor(engine: Engine, finishes: FinishLane, outlook: Outlook) {
    this.#engine = engine
    this.#finishes = finishes
    this.#outlook = outlook
    this.#ahead = new Ahead(
      () => engine.store.clock,
      engine.options.leaseMs,
      (held) => {
        this.#isInUse = false
        this.#putBack(held)
      },
    )
  }

  #putBack(held: HeldKey<unknown>): void {
    held.release().catch((error: unknown) => this.#engine.report(error))
  }

  look(): void {
    this.#outlook.isStale = true
    this.serve()
  }

  /** Asks the store unless it was asked lately, so that it knows of the worker here. */
  async heartbeat(): Promise<void> {
    if (this.#outlook.wasAskedLately) return
    await this.#tick()
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
    if (this.#ahead.size > 0 && this.#engine.waiters.size === 0) this.#askAlone()
    this.serve()
  }

  #askAlone(): void {
    this.#tick().catch((error: unknown) => this.#engine.report(error))
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
    if (this.#isClaiming) return
    this.#isClaiming = true
    void this.#claimAll().finally(() => {
      this.#isClaiming = false
      this.#engine.alarm.set()
    })
  }

  #wantsAhead(): boolean {
    const { options, phase, waiters } = this.#engine
    // Half empty, so that keys come in batches; and only for a queue that somebody uses.
    return (
      phase === 'open' &&
      options.prefetch > 0 &&
      this.#isInUse &&
      this.#ahead.size <= options.prefetch / 2 &&
      (waiters.size > 0 || this.#engine.helds.size > this.#ahead.size)
    )
  }

  #handOutAhead(): void {
    const { waiters } = this.#engine
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
    while (this.#mustClaimAgain && !this.#isStopped) {
      this.#mustClaimAgain = false
      if (this.#holdOffUntil > this.#engine.store.clock.monotonicMs() + instantSlackMs) return
      try {
        await this.#finishes.between(() => this.#claimOnce())
        this.#troubles = 0
      } catch (error) {
        this.#inTrouble(error)
        return
      }
    }
  }

  #inTrouble(error: unknown): void {
    const { waiters } = this.#engine
    if (!isTrouble(error)) {
      const waiting = waiters.takeAll()
      for (const waiter of waiting) waiter.fail(error)
      if (waiting.length === 0) this.#engine.report(error)
      return
    }
    this.#engine.report(error)
    this.#troubles += 1
    void this.#finishes.pause(jitteredMs(this.#troubles, troublePatience)).then(() => this.look())
  }

  async #claimOnce(): Promise<void> {
    const { waiters, options, phase } = this.#engine
    const ahead = phase === 'open' ? Math.max(0, options.prefetch - this.#ahead.size) : 0
    const limit = Math.min(batchKeysMax, waiters.demand + ahead)
    if (limit === 0) return
    if (this.#asksFirst) {
      this.#asksFirst = false
      const { nextAt, now } = await this.#tick()
      if (nextAt > now) return
    }
    const claims = await this.#claim(limit)
    if (this.#isStopped) return
    const count = claims.length
    this.#handOut(claims)
    if (count === limit) {
      this.#misses = 0
      this.#mustClaimAgain = waiters.size > 0
      return
    }
    if (phase === 'shutting-down' && !this.#mustClaimAgain && count === 0) {
      for (const waiter of waiters.takeAll()) waiter.answer([])
      return
    }
    if (waiters.size === 0) return
    if (count > 0) {
      this.#misses = 0
      // A key whose holders vanished with it comes alone, so there may be more behind it.
      if (claims.some(({ crashes }) => crashes > 0)) this.#mustClaimAgain = true
    }
    if (this.#outlook.isOver) {
      const { nextAt, now } = await this.#tick()
      if (nextAt <= now && count === 0) this.#missed()
      else if (nextAt <= now) this.#mustClaimAgain = true
    }
  }

  async #tick(): Promise<TickReply> {
    const reply = await this.#outlook.tick()
    if (reply.leaseEnds.length > 0) this.#mustClaimAgain = true
    // Not awaited: giving back needs the lane that this runs in.
    if (reply.paused) void this.giveBackAhead()
    return reply
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

  async #claim(limit: number): Promise<HeldKey<unknown>[]> {
    const { driver, name, holder, options, store, keeper, dueBy } = this.#engine
    const { leaseMs } = options
    const request: ClaimRequest = {
      limit,
      holder,
      claimId: randomUUID(),
      leaseMs,
      ...(dueBy === never ? {} : { dueBy }),
    }
    const sentAt = store.clock.monotonicMs()
    let reply: Pick<ClaimReply, 'claims' | 'leaseEnds'>
    try {
      const answer = await this.#engine.opened(() =>
        this.#engine.call('claim', request, () => driver.claim(name, request)),
      )
      this.#outlook.knowTime(answer.now)
      reply = answer
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || driver.adopt === undefined) throw error
      reply = { claims: await this.#adopt(request.claimId), leaseEnds: [] }
    }
    // The queue was closed without this answer: what it brings is left to its lease.
    if (this.#isStopped) return []
    const deadline = keeper.deadlineOf(sentAt)
    const claims = reply.claims.map((claim) => this.#hold(claim, deadline))
    if (reply.leaseEnds.length > 0) {
      await this.#outlook.endLeases(reply.leaseEnds)
      this.#mustClaimAgain = true
    }
    return claims
  }

  /** Finds the claims of a request whose answer was lost. */
  async #adopt(claimId: string): Promise<readonly Claim[]> {
    const { driver, name } = this.#engine
    return await this.patiently(
      async () =>
        await this.#engine.call('adopt', { claimId }, () => driver.adopt?.(name, claimId) ?? []),
    )
  }

  #hold(claim: Claim, deadline: number): HeldKey<unknown> {
    const held = new HeldKey<unknown>(this.#engine, nobodysPolicy)
    held.key = claim.key
    held.itemText = claim.item
    held.token = claim.token
    held.failures = claim.failures
    held.crashes = claim.crashes
    held.priority = claim.priority
    held.askedAt = claim.askedAt
    held.readyAt = claim.readyAt
    held.deadline = deadline
    this.#engine.track(held)
    return held
  }

  #handOut(claims: HeldKey<unknown>[]): void {
    const { waiters, phase } = this.#engine
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
        this.#putBack(held)
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
    await Promise.allSettled(early.map((held) => held.release()))
  }

  /** Goes on through trouble with the store, until it answers or the queue is closed. */
  async patiently<R>(call: () => Promise<R>): Promise<R> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call()
      } catch (error) {
        if (!isTrouble(error) || this.#isStopped || this.#engine.phase === 'closed') throw error
        this.#engine.report(error)
        await this.#finishes.pause(jitteredMs(tries, troublePatience))
      }
    }
  }

  stop(): void {
    this.#isStopped = true
  }
}

/** Keys that nobody has asked for yet are put back if nobody ever does. */
const nobodysPolicy: HeldPolicy = {
  disposeAs: 'release',
  retryAs: () => ({ delayMs: 0 }),
}
