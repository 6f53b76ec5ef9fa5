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
  TracedVerb,
} from '@sluice/core'
import { isPromise, never, SluiceError, sluiceChannel } from '@sluice/core'
import { leasesPart } from '#parts'
import { HeldKey, type HeldPolicy } from '../held/held-key.ts'
import { AgeKeeper, type HoldKeeper } from '../held/hold-keeper.ts'
import type { Leases } from '../leases/leases.ts'
import type { AlarmSetting } from './alarm.ts'
import type { Adds, Backend, Claims, Finishes } from './backend.ts'
import type { QueueCore } from './queue-core.ts'
import type { Waiter } from './waiters.ts'

/** How many expired leases one tick reports, and how many stale rows it deletes. */
const tickLimit = 100

/** At most how often one heartbeat ticks while there is more to sweep: a millisecond or so. */
const sweepTicksMax = 50

/** The policy of a claim that is put back immediately. */
const probePolicy: HeldPolicy = { disposeAs: 'release', retryAs: () => ({ delayMs: 0 }) }

/** A claim as it is traced; a direct queue does not report its position in the order. */
function claimOf(held: HeldKey<unknown>, direct: DirectQueue): Omit<Claim, 'readyAt'> {
  const { key, itemText, token, failures, crashes, priority, askedAt } = held
  const trace = direct.trace?.(held.handle, token)
  const said = { key, item: itemText, token, failures, crashes, priority, askedAt, trace }
  return { ...said, leaseUntil: never }
}

/**
 * The backend for a driver that lives in this process: one call at a time, answered synchronously.
 */
export class DirectBackend implements Backend, Adds, Finishes, Claims {
  readonly adds: Adds = this
  readonly finishes: Finishes = this
  readonly claims: Claims = this
  readonly keeper: HoldKeeper
  #leases: Leases | undefined
  readonly #core: QueueCore
  #direct: DirectQueue | undefined
  #isHandingOut = false

  constructor(core: QueueCore) {
    this.#core = core
    this.keeper = new AgeKeeper(core.helds)
  }

  /** The direct queue. Opens the driver if it is not open. */
  direct(): DirectQueue {
    if (this.#direct !== undefined && this.#core.calls.handle.isOpen) return this.#direct
    const { driver, name, handle } = this.#core.calls
    if (isPromise(handle.open())) {
      throw new SluiceError(
        'ERR_STORE',
        `cannot use the driver ${driver.name}: it has a direct queue, so it must open synchronously`,
      )
    }
    // A driver without a direct queue has another backend.
    const direct = driver.direct?.(name) as DirectQueue
    this.#direct = direct
    if (this.#core.phase === 'open') this.#core.directQueue = direct
    return direct
  }

  #call<R>(verb: TracedVerb, request: unknown, send: () => R): R {
    return this.#core.calls.call(verb, request, send) as R
  }

  add(ask: Ask): AskReply {
    const direct = this.direct()
    const { askOptions } = this.#core.calls
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
    const { driver, name } = this.#core.calls
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
    return this.direct().failures(key, this.#core.calls.options.failuresExpireMs)
  }

  finish(held: HeldKey<unknown>, finish: Finish): FinishOutcome {
    const direct = this.direct()
    const { askOptions } = this.#core.calls
    const { outcome } = this.#one(
      this.#call('finish', { finishes: [finish], options: askOptions }, () => [
        direct.finish(held.handle, finish, askOptions),
      ]),
    )
    this.#core.noteFinished(held, finish, outcome)
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
    const { calls, phase } = this.#core
    const { holder, askOptions } = calls
    // While all that is ready may be taken, `instant` is the present. A pause gives no time at all.
    if (phase === 'open') return direct.nextAt() > direct.now()
    // Something is ready, perhaps only since `instant`: a claim finds out, and is put back.
    const probe = new HeldKey<unknown>(this.#core, probePolicy)
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
    if (this.#isHandingOut) return
    this.#isHandingOut = true
    const core = this.#core
    const { inspection, phase, waiters } = core
    try {
      for (;;) {
        const waiter = waiters.first()
        if (waiter === undefined) break
        if (waiter.limit === 1) {
          const held = core.claimNext(waiter.policy) ?? this.#claimOne(waiter.policy)
          if (held === undefined) break
          waiters.remove(waiter)
          if (inspection === undefined) waiter.answerOne(held)
          else inspection.deliver(waiter, [held])
          // Mostly that was all there was, and this costs less than to claim in vain.
          if ((core.direct ?? this.direct()).ready() === 0) break
          continue
        }
        const helds = this.#claim(waiter)
        if (helds.length === 0) break
        waiters.remove(waiter)
        core.deliver(waiter, helds)
      }
      if (phase === 'shutting-down') {
        for (const waiter of waiters.takeAll()) waiter.answer([])
      }
    } catch (error) {
      for (const waiter of waiters.takeAll()) waiter.fail(error)
    } finally {
      this.#isHandingOut = false
    }
    core.alarm.set()
    if (core.lifecycle.isDraining) core.lifecycle.check()
  }

  #claim({ limit, policy }: Waiter): HeldKey<unknown>[] {
    const helds: HeldKey<unknown>[] = []
    while (helds.length < limit) {
      let held: HeldKey<unknown> | undefined
      try {
        held = this.#claimOne(policy, helds.length > 0)
      } catch (error) {
        // What was claimed is handed out; the next call fails.
        if (helds.length === 0) throw error
      }
      if (held === undefined) break
      // A key that has crashed workers twice is handed out alone.
      if (held.crashes > 1 && helds.length > 0) {
        void held.release()
        break
      }
      helds.push(held)
      if (held.crashes > 1) break
    }
    return helds
  }

  /** Claims a key. `hasSome`: earlier claims for the same waiter have succeeded. */
  #claimOne(policy: HeldPolicy, hasSome = false): HeldKey<unknown> | undefined {
    const core = this.#core
    if (core.phase === 'closing' || core.phase === 'closed') return undefined
    const direct = this.direct()
    const held = core.blank.take(policy)
    while (!this.#take(direct, held)) {
      if (!hasSome && this.#endLeases()) continue
      core.blank.keep(held)
      return undefined
    }
    core.track(held)
    return held
  }

  #take(direct: DirectQueue, held: HeldKey<unknown>): boolean {
    const { calls, dueBy } = this.#core
    const { holder } = calls
    if (!sluiceChannel.hasSubscribers) return direct.claim(held, holder, dueBy)
    const request = {
      limit: 1,
      holder,
      leaseMs: Infinity,
      ...(dueBy === never ? {} : { dueBy }),
    }
    const reply = this.#call('claim', request, () => ({
      // Not the Held itself: a subscriber that keeps the event would keep it alive.
      claims: direct.claim(held, holder, dueBy) ? [claimOf(held, direct)] : [],
      leaseEnds: [],
      now: direct.now(),
    }))
    return reply.claims.length > 0
  }

  /**
   * Ends leases that other queue objects of this driver let run out; true if any were ended. What
   * ends them may have to be loaded: then they are found again.
   */
  #endLeases(): boolean {
    const direct = this.direct()
    const { calls } = this.#core
    const { driver, name, holder, handle, options } = calls
    const nextAt = direct.nextAt()
    if (nextAt === never || nextAt > direct.now()) return false
    const { failuresExpireMs } = options
    const request = { holder, limit: tickLimit, failuresExpireMs }
    const sentAt = handle.clock.monotonicMs()
    const tick = this.#call('tick', request, () => driver.tick(name, request))
    if (isPromise(tick) || tick.leaseEnds.length === 0) return false
    const module = leasesPart.get()
    const report = (error: unknown): void => calls.report(error)
    if (isPromise(module)) {
      module.then(() => this.handOut(), report)
      return false
    }
    this.#leases ??= new module.Leases(this.#core)
    this.#leases.clockSteps.checkStoreTime(tick.now, sentAt)
    this.#leases.ends.end(tick.leaseEnds).catch(report)
    return true
  }

  isIdleSince(): boolean {
    return false
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
    const { calls, tally } = this.#core
    const { driver, name, holder, options } = calls
    const { failuresExpireMs } = options
    const worker = tally?.worker()
    const request = { holder, limit: tickLimit, failuresExpireMs, worker }
    for (let ticks = 0; ticks < sweepTicksMax; ticks += 1) {
      const record = worker === undefined || ticks > 0 ? undefined : tally?.takeRecord()
      const recording = { ...request, record }
      const tick = this.#call('tick', recording, () => driver.tick(name, recording))
      if (isPromise(tick) || tick.swept < tickLimit) return
    }
  }

  alarmSetting(): AlarmSetting {
    const { waiters, lifecycle, phase } = this.#core
    const isWaitedFor = phase !== 'closed' && (waiters.size > 0 || lifecycle.isWatched)
    // Without a waiter, a drain is checked with every call of this process; no timer is needed.
    const hasWaiters = isWaitedFor && waiters.size > 0
    const inMs = hasWaiters ? this.direct().nextAt() - this.direct().now() : never
    return { isWanted: isWaitedFor, isWaitedFor, inMs }
  }

  takeAhead(): undefined {
    // Nothing is prefetched where claiming costs nothing.
  }

  /** Nothing is prefetched, and nothing waits for an acknowledgement. */
  readonly beyondSlotsMax: number = 0

  onRan(): void {
    // Nothing is prefetched, however fast handlers are.
  }

  onAcknowledged(): void {
    // A finish is acknowledged before it returns.
  }

  releasePrefetched(): void {
    // Nothing is prefetched where claiming costs nothing.
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
