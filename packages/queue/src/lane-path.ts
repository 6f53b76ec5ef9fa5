import { randomUUID } from 'node:crypto'
import {
  type Ask,
  type AskReply,
  type Awaitable,
  batchKeysMax,
  type CancelOutcome,
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type EpochMs,
  type Failure,
  type Finish,
  type FinishReply,
  type ForgetOutcome,
  type Lease,
  never,
  SluiceError,
  type TickReply,
} from '@sluice/core'
import { Ahead } from './ahead.ts'
import type { AlarmSetting } from './alarm.ts'
import type { Engine } from './engine.ts'
import { FinishLane } from './finish-lane.ts'
import { HeldKey, type HeldPolicy } from './held-key.ts'
import { type Job, Lane } from './lane.ts'
import type { Path } from './path.ts'
import { jitteredMs } from './patience.ts'
import { random } from './random.ts'
import { isTrouble } from './trouble.ts'

type AddRequest = Ask | undefined
type AddReply = AskReply | CancelOutcome | ForgetOutcome

/** How many leases that are over one tick reports. */
const tickLimit = 100

/** How long to wait between tries while the store is in trouble. */
const troublePatience = { first: 100, longest: 5_000 }

/** How long to wait when keys are due that a claim does not get, since others have them locked. */
const lockedPatience = { first: 5, longest: 1_000 }

/** Counts as many as there are. */
const uncapped = Number.MAX_SAFE_INTEGER

/** The answer to an add that shares a step with an earlier, immediate add of its key. */
function afterwards(earlier: Ask, later: Ask): (reply: AddReply) => AddReply {
  const raises = later.priority > earlier.priority
  return (reply) => {
    const { outcome, dueAt, failures } = reply as AskReply
    if (outcome === 'parked' || outcome === 'full') return { outcome, dueAt, failures }
    return { outcome: raises ? 'moved' : 'unchanged', dueAt, failures }
  }
}

function isPlain({ delayMs, failed, plan }: Ask): boolean {
  return delayMs <= 0 && failed !== true && plan === undefined
}

/**
 * The way to a driver that takes batches: adds in one lane, finishes and claims in another, renewals
 * by themselves, so that none waits for the others.
 */
export class LanePath implements Path {
  readonly #engine: Engine
  readonly #adds: Lane<AddRequest, AddReply>
  readonly #finishes: FinishLane
  readonly #ahead: Ahead
  #isClaiming = false
  #mustClaimAgain = false
  /** When the store said it makes sense to look again; and whether it may say otherwise by now. */
  #nextAt: EpochMs = never
  #isNextStale = true
  /** The next claim is made only if the store says that something is due. */
  #asksFirst = false
  /** The store's time less this process's monotonic time. */
  #offsetMs: number | undefined
  #troubles = 0
  #misses = 0
  #holdOffUntil = 0
  #isStopped = false

  constructor(engine: Engine) {
    this.#engine = engine
    const { timeoutMs, leaseMs } = engine.options
    this.#adds = new Lane<AddRequest, AddReply>({
      send: (kind, jobs) => this.#opened(() => this.#sendAdds(kind, jobs)),
      merge: (earlier, later) => this.#merge(earlier, later),
      // An add is owed at least as early as it was, however often it is repeated.
      canRepeat: () => true,
      timeoutMs,
      batchMax: batchKeysMax,
    })
    this.#finishes = new FinishLane(engine, (send) => this.#opened(send))
    this.#ahead = new Ahead(
      () => engine.store.clock,
      leaseMs,
      (held) => {
        void held.release().catch((error: unknown) => engine.report(error))
      },
    )
  }

  #opened<R>(send: () => Awaitable<R>): Awaitable<R> {
    const opening = this.#engine.open()
    return opening instanceof Promise ? opening.then(send) : send()
  }

  #merge(
    earlier: Job<AddRequest, AddReply>,
    later: Job<AddRequest, AddReply>,
  ): ((reply: AddReply) => AddReply) | undefined {
    const first = earlier.request
    const second = later.request
    if (first === undefined || second === undefined) return undefined
    if (!isPlain(first) || !isPlain(second)) return undefined
    const answer = afterwards(first, second)
    const priority = Math.max(first.priority, second.priority)
    earlier.request = { ...first, item: second.item, priority }
    return answer
  }

  #sendAdds(
    kind: string,
    jobs: readonly Job<AddRequest, AddReply>[],
  ): Awaitable<readonly (AddReply | Failure)[]> {
    const { driver, name, askOptions } = this.#engine
    if (kind === 'add') {
      const asks = jobs.map(({ request }) => request as Ask)
      return this.#engine.call('add', { asks, options: askOptions }, () =>
        driver.add(name, asks, askOptions),
      )
    }
    const keys = jobs.map(({ key }) => key)
    return kind === 'cancel'
      ? this.#engine.call('cancel', { keys }, () => driver.cancel(name, keys))
      : this.#engine.call('forget', { keys }, () => driver.forget(name, keys))
  }

  async ask(ask: Ask): Promise<AskReply> {
    const reply = (await this.#adds.submit('add', ask.key, ask)) as AskReply
    this.#learn(reply.dueAt)
    return reply
  }

  async cancel(key: string): Promise<CancelOutcome> {
    return (await this.#adds.submit('cancel', key, undefined)) as CancelOutcome
  }

  async forget(key: string): Promise<ForgetOutcome> {
    return (await this.#adds.submit('forget', key, undefined)) as ForgetOutcome
  }

  async failures(key: string): Promise<number> {
    const { driver, name } = this.#engine
    const request = { keys: [key], limit: 1 }
    const { rows } = await this.#opened(() =>
      this.#engine.call('list', request, () => driver.list(name, request)),
    )
    return rows[0]?.failures ?? 0
  }

  async finish(held: HeldKey<unknown>, finish: Finish): Promise<FinishReply> {
    const reply = await this.#finishes.submit(held, finish)
    this.#learn(reply.dueAt)
    return reply
  }

  /** A key is due at `dueAt`; nobody has to be asked. What is due already is claimed anyway. */
  #learn(dueAt: EpochMs): void {
    if (dueAt < this.#nextAt && dueAt > this.#storeNow()) this.#nextAt = dueAt
  }

  async len(): Promise<number> {
    const { driver, name } = this.#engine
    const request = { cap: uncapped }
    const counts = await this.#opened(() =>
      this.#engine.call('counts', request, () => driver.counts(name, request)),
    )
    return counts.ready
  }

  async now(): Promise<EpochMs> {
    return (await this.#patiently(() => this.#tick())).now
  }

  async isQuiet(instant: EpochMs): Promise<boolean> {
    const { nextAt } = await this.#patiently(() => this.#tick())
    return nextAt > instant
  }

  /** Goes on through trouble with the store, until it answers or the queue is closed. */
  async #patiently<R>(call: () => Promise<R>): Promise<R> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call()
      } catch (error) {
        if (!isTrouble(error) || this.#isStopped || this.#engine.phase === 'closed') throw error
        this.#engine.report(error)
        await this.#pause(jitteredMs(tries, troublePatience))
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return this.#finishes.pause(ms)
  }

  async #tick(): Promise<TickReply> {
    const { driver, name, holder, options } = this.#engine
    const { failuresExpireMs } = options
    const request = { holder, limit: tickLimit, failuresExpireMs }
    this.#isNextStale = false
    const reply = await this.#opened(() =>
      this.#engine.call('tick', request, () => driver.tick(name, request)),
    )
    this.#nextAt = reply.nextAt
    this.#knowTime(reply.now)
    if (reply.paused) await this.giveBackAhead()
    if (reply.leaseEnds.length > 0) await this.#endLeases(reply.leaseEnds)
    return reply
  }

  #knowTime(now: EpochMs): void {
    this.#offsetMs = now - this.#engine.store.clock.monotonicMs()
  }

  #storeNow(): EpochMs {
    const { clock } = this.#engine.store
    return this.#offsetMs === undefined ? clock.now() : clock.monotonicMs() + this.#offsetMs
  }

  async #endLeases(leases: readonly Lease[]): Promise<void> {
    const { driver, name } = this.#engine
    const options = { ...this.#engine.expireOptions, jitter: random() }
    await this.#engine.call('expire', { leases, options }, () =>
      driver.expire(name, leases, options),
    )
    // Where the lost runs are due now is for the store to say.
    this.#isNextStale = true
    this.#mustClaimAgain = true
  }

  look(): void {
    this.#isNextStale = true
    this.serve()
  }

  ring(): void {
    // An idle queue asks one thing of its store, when to look again, and claims only if that is now.
    this.#asksFirst = this.#engine.phase === 'open' && this.#nextAt > this.#storeNow()
    this.serve()
  }

  serve(): void {
    this.#handOutAhead()
    const { waiters, ending, phase } = this.#engine
    if (ending.isDraining) ending.check()
    if (this.#isStopped || phase === 'closing' || phase === 'closed') return
    // What was due at the time of the shutdown can only be told once that is known.
    if (phase === 'shutting-down' && !ending.isInstantKnown) return
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
      held.policy = waiter.policy
      this.#engine.deliver(waiter, [held])
    }
  }

  async #claimAll(): Promise<void> {
    while (this.#mustClaimAgain && !this.#isStopped) {
      this.#mustClaimAgain = false
      if (this.#holdOffUntil > this.#engine.store.clock.monotonicMs()) return
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
    void this.#pause(jitteredMs(this.#troubles, troublePatience)).then(() => this.look())
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
    if (this.#isNextStale || this.#nextAt <= this.#storeNow()) {
      const { nextAt, now } = await this.#tick()
      if (nextAt <= now && count === 0) this.#missed()
      else if (nextAt <= now) this.#mustClaimAgain = true
    }
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
      const answer = await this.#opened(() =>
        this.#engine.call('claim', request, () => driver.claim(name, request)),
      )
      this.#knowTime(answer.now)
      reply = answer
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || driver.adopt === undefined) throw error
      reply = { claims: await this.#adopt(request.claimId), leaseEnds: [] }
    }
    const deadline = keeper.deadlineOf(sentAt)
    const claims = reply.claims.map((claim) => this.#hold(claim, deadline))
    if (reply.leaseEnds.length > 0) await this.#endLeases(reply.leaseEnds)
    return claims
  }

  /** Finds the claims of a request whose answer was lost. */
  async #adopt(claimId: string): Promise<readonly Claim[]> {
    const { driver, name } = this.#engine
    return await this.#patiently(
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
        void held.release().catch((error: unknown) => this.#engine.report(error))
      }
    }
  }

  alarm(): AlarmSetting {
    const { waiters, ending, phase, store } = this.#engine
    const isEnded = this.#isStopped || phase === 'closing' || phase === 'closed'
    const isWaitedFor = !isEnded && (waiters.size > 0 || ending.isDraining)
    const isWanted = isWaitedFor || (!isEnded && this.#ahead.size > 0)
    const holdOffMs = this.#holdOffUntil - store.clock.monotonicMs()
    const inMs = Math.max(this.#nextAt - this.#storeNow(), holdOffMs)
    return { isWanted, isWaitedFor, inMs }
  }

  async giveBackAhead(): Promise<void> {
    const early = this.#ahead.takeAll()
    await Promise.allSettled(early.map((held) => held.release()))
  }

  async settled(): Promise<void> {
    await this.#adds.settled()
    await this.#finishes.settled()
  }

  stop(): void {
    this.#isStopped = true
    this.#finishes.stop()
  }
}

/** Keys that nobody has asked for yet are put back if nobody ever does. */
const nobodysPolicy: HeldPolicy = {
  disposeAs: 'release',
  retryAs: () => ({ delayMs: 0 }),
}
