import type {
  Ask,
  AskReply,
  CancelOutcome,
  Claim,
  DirectQueue,
  EpochMs,
  Finish,
  FinishOutcome,
  ForgetOutcome,
} from '@sluice/core'
import { never, SluiceError, sluiceChannel } from '@sluice/core'
import { HeldKey, type HeldPolicy } from '../held/held-key.ts'
import type { AlarmSetting } from './alarm.ts'
import type { Backend } from './backend.ts'
import type { QueueCore } from './queue-core.ts'
import type { Waiter } from './waiters.ts'

/** How many leases of others to look after, and how many stale rows to sweep, in one go. */
const leaseEndsMax = 100

/** At most how often one heartbeat ticks while there is more to sweep: a millisecond or so. */
const sweepTicksMax = 50

/** Of a claim that is put back at once. */
const probePolicy: HeldPolicy = { disposeAs: 'release', retryAs: () => ({ delayMs: 0 }) }

/** What the door told of a claim; where it stood in line it does not tell. */
function claimOf(held: HeldKey<unknown>): Omit<Claim, 'readyAt'> {
  const { key, itemText, token, failures, crashes, priority, askedAt } = held
  return { key, item: itemText, token, failures, crashes, priority, askedAt, leaseUntil: never }
}

/** The way to a driver that lives in this process: one call at a time, answered at once. */
export class DirectBackend implements Backend {
  readonly #engine: QueueCore
  #direct: DirectQueue | undefined
  #isServing = false

  constructor(engine: QueueCore) {
    this.#engine = engine
  }

  /** The door. Opens the driver if need be. */
  direct(): DirectQueue {
    if (this.#direct !== undefined && this.#engine.handle.isOpen) return this.#direct
    const { driver, name, handle } = this.#engine
    if (handle.open() instanceof Promise) {
      throw new SluiceError(
        'ERR_STORE',
        `cannot use the driver ${driver.name}: it has a direct door, so it must open at once`,
      )
    }
    const direct = driver.direct?.(name)
    if (direct === undefined) {
      throw new SluiceError('ERR_STORE', `cannot use the driver ${driver.name}: its door is gone`)
    }
    this.#direct = direct
    if (this.#engine.phase === 'open') this.#engine.hot = direct
    return direct
  }

  #call<R>(verb: Parameters<QueueCore['call']>[0], request: unknown, send: () => R): R {
    return this.#engine.call(verb, request, send) as R
  }

  add(ask: Ask): AskReply {
    const direct = this.direct()
    const { askOptions } = this.#engine
    // Traced as the batch of one that it is, so that subscribers need to know one form only.
    return this.#one(
      this.#call('add', { asks: [ask], options: askOptions }, () => [direct.ask(ask, askOptions)]),
    )
  }

  #one<R>(replies: readonly R[]): R {
    return replies[0] as R
  }

  cancel(key: string): CancelOutcome {
    this.direct()
    const { driver, name } = this.#engine
    const keys = [key]
    return this.#one(
      this.#call('cancel', { keys }, () => driver.cancel(name, keys) as CancelOutcome[]),
    )
  }

  forget(key: string): ForgetOutcome {
    const direct = this.direct()
    return this.#one(this.#call('forget', { keys: [key] }, () => [direct.forget(key)]))
  }

  failures(key: string): number {
    return this.direct().failures(key, this.#engine.options.failuresExpireMs)
  }

  finish(held: HeldKey<unknown>, finish: Finish): FinishOutcome {
    const direct = this.direct()
    const { askOptions } = this.#engine
    const { outcome } = this.#one(
      this.#call('finish', { finishes: [finish], options: askOptions }, () => [
        direct.finish(held.handle, finish, askOptions),
      ]),
    )
    this.#engine.noteFinished(held, finish, outcome)
    return outcome
  }

  len(): number {
    return this.direct().ready()
  }

  now(): EpochMs {
    return this.direct().now()
  }

  estimatedNow(): EpochMs {
    return this.direct().now()
  }

  readyAt({ handle, token }: HeldKey<unknown>): EpochMs {
    return this.#direct?.readyAt?.(handle, token) ?? never
  }

  isDrained(instant: EpochMs): boolean {
    this.#endLeases()
    const direct = this.direct()
    if (direct.ready() === 0) return direct.nextAt() > instant
    const { holder, askOptions, phase } = this.#engine
    // While all that is ready may be taken, `instant` is the present. A pause gives no time at all.
    if (phase === 'open') return direct.nextAt() > direct.now()
    // Something is ready, perhaps only since `instant`: only a claim tells, and puts back.
    const probe = new HeldKey<unknown>(this.#engine, probePolicy)
    if (!direct.claim(probe, holder, instant)) return true
    const { key, token } = probe
    direct.finish(probe.handle, { as: 'release', key, token }, askOptions)
    return false
  }

  isDue(): boolean {
    const direct = this.direct()
    const nextAt = direct.nextAt()
    return nextAt !== never && nextAt <= direct.now()
  }

  handOut(): void {
    // Handing a key over may run code of the user's that comes back here.
    if (this.#isServing) return
    this.#isServing = true
    const { inspection, phase, waiters } = this.#engine
    try {
      for (;;) {
        const waiter = waiters.first()
        if (waiter === undefined) break
        if (waiter.limit === 1) {
          const held = this.#claimOne(waiter.policy)
          if (held === undefined) break
          waiters.remove(waiter)
          if (inspection === undefined) waiter.answerOne(held)
          else inspection.deliver(waiter, [held])
          // Mostly that was all there was, and this costs less than to claim in vain.
          if (this.direct().ready() === 0) break
          continue
        }
        const helds = this.#claim(waiter)
        if (helds.length === 0) break
        waiters.remove(waiter)
        this.#engine.deliver(waiter, helds)
      }
      if (phase === 'shutting-down') {
        for (const waiter of waiters.takeAll()) waiter.answer([])
      }
    } catch (error) {
      for (const waiter of waiters.takeAll()) waiter.fail(error)
    } finally {
      this.#isServing = false
    }
    this.#engine.alarm.set()
    if (this.#engine.lifecycle.isDraining) this.#engine.lifecycle.check()
  }

  #claim({ limit, policy }: Waiter): HeldKey<unknown>[] {
    const helds: HeldKey<unknown>[] = []
    while (helds.length < limit) {
      const held = this.#claimOne(policy, helds.length > 0)
      if (held === undefined) break
      // A key whose holders vanished with it is worked on alone.
      if (held.crashes > 0 && helds.length > 0) {
        void held.release()
        break
      }
      helds.push(held)
      if (held.crashes > 0) break
    }
    return helds
  }

  /** Claims a key; for a claim of several, `hasSome` tells whether there are some. */
  #claimOne(policy: HeldPolicy, hasSome = false): HeldKey<unknown> | undefined {
    const engine = this.#engine
    if (engine.phase === 'closing' || engine.phase === 'closed') return undefined
    const direct = this.direct()
    const held = engine.blank.take(policy)
    while (!this.#take(direct, held)) {
      if (!hasSome && this.#endLeases()) continue
      engine.blank.keep(held)
      return undefined
    }
    engine.track(held)
    return held
  }

  #take(direct: DirectQueue, held: HeldKey<unknown>): boolean {
    const { holder, dueBy } = this.#engine
    if (!sluiceChannel.hasSubscribers) return direct.claim(held, holder, dueBy)
    const request = {
      limit: 1,
      holder,
      leaseMs: Infinity,
      ...(dueBy === never ? {} : { dueBy }),
    }
    const reply = this.#call('claim', request, () => ({
      // Not the Held itself: a subscriber that keeps what it is told would keep it alive.
      claims: direct.claim(held, holder, dueBy) ? [claimOf(held)] : [],
      leaseEnds: [],
      now: direct.now(),
    }))
    return reply.claims.length > 0
  }

  /** Ends leases that other queue objects of this driver let run out; true if there were any. */
  #endLeases(): boolean {
    const direct = this.direct()
    const { driver, name, holder, handle, options, clockSteps, leaseEnds } = this.#engine
    const nextAt = direct.nextAt()
    if (nextAt === never || nextAt > direct.now()) return false
    const { failuresExpireMs } = options
    const request = { holder, limit: leaseEndsMax, failuresExpireMs }
    const sentAt = handle.clock.monotonicMs()
    const tick = this.#call('tick', request, () => driver.tick(name, request))
    if (tick instanceof Promise || tick.leaseEnds.length === 0) return false
    clockSteps.checkStoreTime(tick.now, sentAt)
    const ending = leaseEnds.end(tick.leaseEnds)
    if (ending instanceof Promise) ending.catch((error: unknown) => this.#engine.report(error))
    return true
  }

  refresh(): void {
    this.handOut()
  }

  onTimer(): void {
    this.handOut()
  }

  unregister(): void {
    this.heartbeat()
  }

  heartbeat(): void {
    this.direct()
    const { driver, name, holder, options, tally } = this.#engine
    const { failuresExpireMs } = options
    const worker = tally.worker()
    const request = { holder, limit: leaseEndsMax, failuresExpireMs, worker }
    for (let ticks = 0; ticks < sweepTicksMax; ticks += 1) {
      const tick = this.#call('tick', request, () => driver.tick(name, request))
      if (tick instanceof Promise || tick.swept < leaseEndsMax) return
    }
  }

  alarmSetting(): AlarmSetting {
    const { waiters, lifecycle, phase } = this.#engine
    const isWaitedFor = phase !== 'closed' && (waiters.size > 0 || lifecycle.isWatched)
    // A drain that nobody helps is told of everything that happens here; no need to look for it.
    const isHelped = isWaitedFor && waiters.size > 0
    const inMs = isHelped ? this.direct().nextAt() - this.direct().now() : never
    return { isWanted: isWaitedFor, isWaitedFor, inMs }
  }

  releasePrefetched(): void {
    // Nothing is claimed ahead where claiming costs nothing.
  }

  idle(): void {
    // Every call was answered before it returned.
  }

  giveUp(): void {
    // There is no call without an answer.
  }

  stop(): void {
    this.#direct = undefined
  }
}
