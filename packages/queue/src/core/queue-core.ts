// This folder is one queue object, whatever its driver: its waiters, its phase, its retries, and the
// backend for a driver that lives in this process.

import {
  type AddOutcome,
  type Ask,
  type AskReply,
  type Awaitable,
  type CancelOutcome,
  type DirectQueue,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  isPromise,
  never,
  nextTurn,
  type SluiceError,
  sluiceChannel,
} from '@sluice/core'
import { type CallOwner, DriverCalls } from '../driver/driver-calls.ts'
import type { HandleUser } from '../driver/driver-handle.ts'
import type { GateUser } from '../driver/retry-gate.ts'
import { BlankHeld } from '../held/blank-held.ts'
import type { HeldKey, HeldOwner, HeldPolicy } from '../held/held-key.ts'
import { HeldSet } from '../held/held-set.ts'
import type { HoldKeeper } from '../held/hold-keeper.ts'
import type { CheckedOptions } from '../queue/options.ts'
import { SoonBuffer } from '../queue/soon-buffer.ts'
import type { WorkTally } from '../worker/work-tally.ts'
import { Alarm } from './alarm.ts'
import type { Backend, Claims, FinishReceiver } from './backend.ts'
import { ItemInspection } from './item-inspection.ts'
import { Lifecycle } from './lifecycle.ts'
import { heldDropped, type Phase, queueFull, queueShutDown } from './queue-errors.ts'
import { resolvedAdd, resolvedFinish } from './resolved.ts'
import { RetryPlans } from './retry-plans.ts'
import { type Waiter, type WaiterGroup, Waiters } from './waiters.ts'

/**
 * One queue object, shared by all layers over it: its waiters, the keys it holds, its adds and
 * finishes, and its phase. Calls of the driver are made by its {@link DriverCalls}, and reach the
 * store through its {@link Backend}.
 */
export class QueueCore implements HeldOwner, CallOwner {
  readonly calls: DriverCalls
  readonly waiters: Waiters = new Waiters()
  readonly helds: HeldSet
  readonly returning: Map<number, Promise<void>> = new Map()
  keeper: HoldKeeper
  readonly alarm: Alarm
  backend: Backend
  claims: Claims
  readonly lifecycle: Lifecycle
  /** The direct queue of the driver, while the queue is open and the driver has one. */
  directQueue: DirectQueue | undefined = undefined
  phase: Phase = 'open'
  /**
   * Counts the runs of the workers on this queue object, for their registration with the store.
   * There is none before the first worker.
   */
  tally: WorkTally | undefined = undefined
  readonly plans: RetryPlans
  /** How many adds were made, and how many of them changed nothing. */
  asked = 0
  merged = 0
  /** Only what is due by then is handed out: the time of the shutdown, once it is known. */
  dueBy: EpochMs = never
  readonly blank: BlankHeld = new BlankHeld(this)
  readonly inspection: ItemInspection | undefined
  /** The adds without a caller that waits for them. */
  readonly soon: SoonBuffer
  private readonly peers: ReadonlySet<HandleUser>

  constructor(options: CheckedOptions<unknown>, backendOf: (core: QueueCore) => Backend) {
    const calls = new DriverCalls(options, this)
    this.calls = calls
    this.peers = calls.peers
    this.soon = new SoonBuffer(calls)
    this.plans = new RetryPlans(options, (error) => {
      calls.notice('limiter-failed', { error })
      calls.report(error)
    })
    this.helds = new HeldSet((key, token) => this.#dropped(key, token))
    this.backend = backendOf(this)
    this.claims = this.backend.claims
    this.keeper = this.backend.keeper
    this.alarm = new Alarm(
      () => calls.handle.clock,
      options.ref,
      () => this.claims.alarmSetting(),
      () => this.claims.onTimer(),
    )
    this.lifecycle = new Lifecycle(this)
    this.inspection =
      options.schema === undefined ? undefined : new ItemInspection(this, options.schema)
  }

  /** Goes on with the backend that was loaded for the driver. */
  useBackend(backend: Backend): void {
    this.backend = backend
    this.claims = backend.claims
    this.keeper = backend.keeper
  }

  /**
   * The direct queue, for a call that nothing observes. While the tracing channel has subscribers,
   * every call takes the way through the backend, where it is published.
   */
  get direct(): DirectQueue | undefined {
    const { directQueue } = this
    return directQueue === undefined || sluiceChannel.hasSubscribers ? undefined : directQueue
  }

  /** Adds a key. `givesBack`: a holder may give back its key this way, also after a shutdown. */
  add(request: Ask, givesBack: boolean): Promise<AddOutcome> {
    try {
      const { direct } = this
      if (direct !== undefined) return this.#added(direct.ask(request, this.calls.askOptions))
      this.refuseWhenEnding(request.key, givesBack)
      const reply = this.backend.adds.add(request)
      return isPromise(reply) ? reply.then(this.#outcome) : this.#added(reply)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Adds a key that was accepted before, even if the queue was shut down since; with `user` as one
   * of the automatic attempts on the store.
   */
  addAccepted(request: Ask, user: GateUser | undefined): Awaitable<AddOutcome> {
    if (this.phase === 'closed') throw this.calls.closedError()
    const send = () => this.backend.adds.add(request)
    const reply = user ? this.calls.handle.gate.attempt(user, send) : send()
    return isPromise(reply) ? reply.then(this.#outcome) : this.#outcome(reply)
  }

  readonly #added = ({ outcome }: AskReply): Promise<AddOutcome> => {
    if (outcome === 'full') return Promise.reject(this.fullError())
    this.noteAdded(outcome)
    return resolvedAdd(outcome)
  }

  /** The same for a reply that came later: a promise in place of the value takes two turns more. */
  readonly #outcome = ({ outcome }: AskReply): AddOutcome => {
    if (outcome === 'full') throw this.fullError()
    this.noteAdded(outcome)
    return outcome
  }

  /** Cancels the pending runs of a key. */
  async cancel(key: string): Promise<CancelOutcome> {
    if (this.phase === 'closed') throw this.calls.closedError()
    const outcome = await this.backend.adds.cancel(key)
    this.onTaken()
    return outcome
  }

  /**
   * A key is not ready any more: the queue objects of this name may have ended their drains, and
   * have room if they were full.
   */
  private onTaken(): void {
    for (const { owner } of this.peers) {
      owner?.lifecycle.check()
      owner?.soon.onRoom()
    }
  }

  /** Acts on the outcome of an add. */
  noteAdded(outcome: AddOutcome): void {
    this.asked += 1
    if (outcome === 'added' || outcome === 'moved') this.changed()
    else this.unchanged(outcome)
  }

  /** The error of an add to a queue that holds maxPending keys. */
  fullError(): SluiceError {
    return queueFull(this.calls.name, this.calls.options.maxPending)
  }

  /** Throws if adds are not taken any more, unless a holder gives back its key. */
  refuseWhenEnding(key: string, givesBack: boolean): void {
    if (this.phase === 'open') return
    if (this.phase !== 'closed' && givesBack && this.helds.holds(key)) return
    throw this.phase === 'shutting-down'
      ? queueShutDown(this.calls.name, key)
      : this.calls.closedError()
  }

  /** Something may be claimable that was not, or be due at another time. */
  changed(): void {
    if (this.waiters.demand > 0) this.claims.handOut(true)
    if (this.peers.size > 1) this.calls.handle.wake(this.calls.name, this.calls)
  }

  /**
   * A call changed nothing. If calls follow each other without a pause the alarm never goes off,
   * so a waiter for a key that is due by now is answered here.
   */
  unchanged(outcome: AddOutcome): void {
    if (outcome === 'unchanged') this.merged += 1
    if (this.waiters.demand > 0 && this.backend.isDue()) this.claims.handOut()
  }

  /** Something may change once a transaction of the caller's commits. */
  wakeSoon(): void {
    nextTurn(() => this.wake())
  }

  /** A transaction of the caller's that gave back a key has committed. */
  committed(held: HeldKey<unknown>): void {
    held.phase = 'finished'
    this.onGivenBack(held, true)
  }

  /** The store says that something may have changed; `releases`: a queue was paused or a key parked. */
  wake(releases = false): void {
    if (this.phase === 'closed') return
    if (releases) void this.claims.releasePrefetched()
    this.claims.refresh()
  }

  /**
   * Takes a key synchronously if the driver is direct or keys were claimed ahead, and no waiter is
   * before it.
   */
  claimDirect(policy: HeldPolicy): HeldKey<unknown> | undefined {
    if (this.waiters.demand > 0 || this.inspection !== undefined) return undefined
    return this.claimNext(policy)
  }

  /** Claims a key synchronously, for the caller or waiter whose turn it is. */
  claimNext(policy: HeldPolicy): HeldKey<unknown> | undefined {
    const { direct } = this
    if (direct === undefined) return this.claims.takeAhead(policy)
    const held = this.blank.take(policy)
    if (!direct.claim(held, this.calls.holder, never)) {
      this.blank.keep(held)
      return undefined
    }
    this.track(held)
    return held
  }

  get isWaiting(): boolean {
    return this.waiters.size > 0
  }

  isIdleSince(instant: number): boolean {
    if (this.helds.size > 0 || this.phase === 'shutting-down') return false
    return this.claims.isIdleSince(instant)
  }

  /** Answers a waiter as soon as there are keys; with none once the queue has ended. */
  wait(waiter: Waiter, signal: AbortSignal | undefined): void {
    if (this.phase === 'closing' || this.phase === 'closed') {
      waiter.answer([])
      return
    }
    if (signal !== undefined) {
      if (waiter.isAborted) {
        waiter.giveUp()
        return
      }
      waiter.listen(() => {
        // While items are checked for it, it is not among the waiters: the keys are given back then.
        if (!this.waiters.remove(waiter) && this.inspection === undefined) return
        waiter.giveUp()
        this.alarm.set()
      })
    }
    this.waiters.add(waiter)
    this.calls.quiet.noteWork()
    if (this.directQueue === undefined) this.claims.handOut()
    // Otherwise the waiters before this one have found nothing.
    else if (this.waiters.size === 1) {
      // A claim in vain takes longer than to ask whether anything is due.
      if (this.backend.isDue()) this.claims.handOut()
      else this.alarm.set()
    }
  }

  /** Ends the wait of every waiter of this group. */
  dismiss(group: WaiterGroup): void {
    for (const waiter of this.waiters.takeAllOf(group)) waiter.giveUp()
    // Loops of the group may wait for keys that are held, which could come back.
    this.lifecycle.onGivenBack()
    this.calls.quiet.rest()
    this.alarm.set()
  }

  /** Counts a key as held by this queue object. */
  track(held: HeldKey<unknown>): void {
    this.helds.add(held)
    this.keeper.start(held)
    if (this.peers.size > 1) this.onTaken()
    else this.soon.onRoom()
  }

  /** Hands keys to a waiter. */
  deliver(waiter: Waiter, helds: HeldKey<unknown>[]): void {
    if (this.inspection === undefined) waiter.answer(helds)
    else this.inspection.deliver(waiter, helds)
  }

  /** Gives a key back. */
  finish(held: HeldKey<unknown>, request: Finish): Promise<FinishOutcome> {
    if (held.phase !== 'held' || this.phase === 'closed') return resolvedFinish('lost')
    held.phase = 'finishing'
    try {
      const answer = this.backend.finishes.finish(held, request)
      return typeof answer === 'string' ? resolvedFinish(answer) : answer
    } catch (error) {
      held.phase = 'held'
      return Promise.reject(error)
    }
  }

  /** Gives a key back, and tells the receiver, perhaps at once. */
  finishFor(held: HeldKey<unknown>, request: Finish, receiver: FinishReceiver): void {
    const { finishes } = this.backend
    if (finishes.finishFor === undefined || held.phase !== 'held' || this.phase === 'closed') {
      this.finish(held, request).then(
        (outcome) => receiver.finished(outcome),
        (error: unknown) => receiver.finishFailed(error),
      )
      return
    }
    held.phase = 'finishing'
    finishes.finishFor(held, request, receiver)
  }

  /** Acts on the outcome of a finish. */
  noteFinished(held: HeldKey<unknown>, finish: Finish, outcome: FinishOutcome): void {
    held.phase = 'finished'
    if (finish.as === 'done' && finish.forget && outcome !== 'lost') this.plans.forget(held)
    this.onGivenBack(held, outcome === 'ready' || outcome === 'delayed')
  }

  /** A key is not held any more. `hasMore`: another run of it is pending. */
  onGivenBack(held: HeldKey<unknown>, hasMore: boolean): void {
    this.helds.remove(held)
    if (hasMore) this.changed()
    if (this.lifecycle.isWatched) this.lifecycle.onGivenBack()
  }

  /** A lease is lost: the signal of its holder is aborted, and the key is not renewed any more. */
  lose(held: HeldKey<unknown>, error: SluiceError): void {
    if (held.isLost) return
    if (held.mayBeGivenBack) {
      this.committed(held)
      return
    }
    this.helds.lose(held)
    held.abort(error)
    this.tally?.lost(held.token, error)
    this.calls.notice('lease-lost', { key: held.key, token: held.token })
    if (this.lifecycle.isWatched) this.lifecycle.onGivenBack()
  }

  #dropped(key: string, token: number): void {
    // The close has reported it; a Held that is finished afterwards stays as it is.
    if (this.phase === 'closed') return
    this.calls.notice('held-dropped', { key, token })
    this.calls.report(heldDropped(key))
    if (this.lifecycle.isWatched) this.lifecycle.onGivenBack()
  }
}
