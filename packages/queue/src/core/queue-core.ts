import { randomUUID } from 'node:crypto'
import {
  type AddOutcome,
  type Ask,
  type AskOptions,
  type AskReply,
  type Awaitable,
  type DirectQueue,
  type Driver,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  never,
  type RunRequest,
  type RunResult,
  type SluiceError,
  type SluiceEvent,
  sluiceChannel,
  type TracedVerb,
} from '@sluice/core'
import { BatchedBackend } from '../batched/batched-backend.ts'
import { DriverHandle, type HandleUser } from '../driver/driver-handle.ts'
import { ErrorReports } from '../driver/error-reports.ts'
import type { GateUser } from '../driver/retry-gate.ts'
import { StoreHealth } from '../driver/store-health.ts'
import { notice, traced } from '../driver/traced.ts'
import { nextTurn } from '../environment/environment.ts'
import { inTime } from '../environment/timing.ts'
import { BlankHeld } from '../held/blank-held.ts'
import { ClockSteps } from '../held/clock-steps.ts'
import type { HeldKey, HeldPolicy } from '../held/held-key.ts'
import { HeldSet } from '../held/held-set.ts'
import { AgeKeeper, type HoldKeeper } from '../held/hold-keeper.ts'
import { LeaseEnds } from '../held/lease-ends.ts'
import { LeaseKeeper } from '../held/lease-keeper.ts'
import type { CheckedOptions } from '../queue/options.ts'
import { Alarm } from './alarm.ts'
import type { Backend } from './backend.ts'
import { CommitWatch } from './commit-watch.ts'
import { describeFailure } from './describe-failure.ts'
import { DirectBackend } from './direct-backend.ts'
import { ItemInspection } from './item-inspection.ts'
import { Lifecycle } from './lifecycle.ts'
import { heldDropped, queueClosed, queueFull, queueShutDown } from './refusals.ts'
import { resolvedAdd, resolvedFinish } from './resolved.ts'
import { RetryPlans } from './retry-plans.ts'
import { type Waiter, type WaiterGroup, Waiters } from './waiters.ts'
import { WorkTally } from './work-tally.ts'

/** How far a queue object is on its way out. */
export type Phase = 'open' | 'shutting-down' | 'closing' | 'closed'

/**
 * What all layers over one queue share: the way to the driver, those who wait, what is held, and
 * how far the queue is on its way out.
 */
export class QueueCore implements HandleUser {
  readonly name: string
  /** The random name under which this queue object holds keys. */
  readonly holder: string = randomUUID()
  readonly driver: Driver
  readonly handle: DriverHandle
  readonly options: CheckedOptions<unknown>
  askOptions: AskOptions
  readonly waiters: Waiters = new Waiters()
  readonly helds: HeldSet
  readonly keeper: HoldKeeper
  readonly alarm: Alarm
  readonly backend: Backend
  readonly lifecycle: Lifecycle
  readonly health: StoreHealth = new StoreHealth(() => this.handle.gate.answered())
  readonly clockSteps: ClockSteps
  readonly leaseEnds: LeaseEnds = new LeaseEnds(this)
  readonly commitWatch: CommitWatch = new CommitWatch(this)
  /** The driver's door while the queue is open and the driver has one: the shortest way. */
  hot: DirectQueue | undefined = undefined
  phase: Phase = 'open'
  /** What the workers on this queue object have done, for the store to know of. */
  readonly tally: WorkTally
  readonly plans: RetryPlans
  /** How many adds were made, and how many of them changed nothing. */
  asked = 0
  merged = 0
  /** Only what is due by then is handed out: the time of the shutdown, once it is known. */
  dueBy: EpochMs = never
  readonly blank: BlankHeld = new BlankHeld(this)
  readonly inspection: ItemInspection | undefined
  readonly #reports: ErrorReports
  private readonly peers: ReadonlySet<HandleUser>

  constructor(options: CheckedOptions<unknown>) {
    this.options = options
    this.name = options.name
    this.driver = options.driver
    this.handle = DriverHandle.of(options.driver, options.clock)
    const { dedupe, failuresExpireMs, maxPending, leaseMs } = options
    this.#reports = new ErrorReports({
      queue: options.name,
      onError: options.onError,
      printed: this.handle.printed,
      event: () => this.#event('error', undefined),
    })
    this.askOptions = { dedupe, failuresExpireMs, maxPending }
    this.plans = new RetryPlans(options, (error) => {
      this.notice('limiter-failed', { error })
      this.report(error)
    })
    this.tally = new WorkTally(this)
    this.helds = new HeldSet((key, token) => this.#dropped(key, token))
    const isDirect = this.driver.direct !== undefined && leaseMs === Infinity
    this.clockSteps = new ClockSteps(this)
    this.keeper = leaseMs === Infinity ? new AgeKeeper(this.helds) : new LeaseKeeper(this)
    this.backend = isDirect ? new DirectBackend(this) : new BatchedBackend(this)
    this.alarm = new Alarm(
      () => this.handle.clock,
      options.ref,
      () => this.backend.alarmSetting(),
      () => this.backend.onTimer(),
    )
    this.lifecycle = new Lifecycle(this)
    this.inspection =
      options.schema === undefined ? undefined : new ItemInspection(this, options.schema)
    this.peers = this.handle.join(this)
  }

  /** Makes the store usable; at once if it is. */
  open(): Awaitable<void> {
    const opening = this.#openStore()
    return opening instanceof Promise ? opening.then(() => this.#opened()) : this.#opened()
  }

  #openStore(): Awaitable<void> {
    return this.handle.isOpen ? undefined : this.health.watch(() => this.handle.open())
  }

  /** Makes a call as soon as the store is usable. */
  opened<R>(send: () => Awaitable<R>): Awaitable<R> {
    const opening = this.open()
    return opening instanceof Promise ? opening.then(send) : send()
  }

  /**
   * Makes an attempt that no call of the user asks for, or repeats one: spaced while the store is in
   * trouble. Rejects with ERR_CLOSED when the queue is closed before its turn.
   */
  attempt<R>(send: () => Awaitable<R>, isRef = true): Awaitable<R> {
    return this.handle.gate.attempt(this, send, isRef)
  }

  /** Makes a call that only looks, as soon as the store is usable; gives up after timeoutMs. */
  inquire<R>(send: () => Awaitable<R>): Awaitable<R> {
    const opening = this.#openStore()
    const looking = opening instanceof Promise ? opening.then(send) : send()
    return inTime(looking, this.options.timeoutMs, 'look into the store')
  }

  #opened(): void {
    if (this.hot === undefined && this.phase === 'open' && this.backend instanceof DirectBackend) {
      this.hot = this.backend.direct()
    }
  }

  /** Makes a call of the driver, traced. */
  call<R>(verb: TracedVerb, request: unknown, send: () => Awaitable<R>): Awaitable<R> {
    if (!sluiceChannel.hasSubscribers) return this.health.watch(send)
    return traced(this.#event(verb, request), () => this.health.watch(send))
  }

  /** Publishes a run of a handler, which says nothing about the store. */
  traceRun(told: { request(): RunRequest }, run: () => Promise<RunResult>): Awaitable<RunResult> {
    if (!sluiceChannel.hasSubscribers) return run()
    return traced(this.#event('run', told.request()), run)
  }

  #event(verb: TracedVerb, request: unknown): SluiceEvent {
    const { name: queue, driver: source, holder } = this
    return { verb, queue, driver: source.name, source, holder, request }
  }

  /** What is kept of the error of a failed run. */
  describe(error: unknown): string | undefined {
    return describeFailure(error, this.options, (failure) => this.report(failure))
  }

  /** Reports an error that no call can return. */
  report(error: unknown): void {
    this.#reports.report(error)
  }

  /** Reports an error that may come again and again while the store is in trouble. */
  reportTrouble(error: unknown): void {
    this.#reports.reportTrouble(error)
  }

  /** Publishes something that the queue noticed. */
  notice(verb: TracedVerb, request: unknown): void {
    if (sluiceChannel.hasSubscribers) notice(this.#event(verb, request))
  }

  /** Asks for a run. `givesBack`: it may be work of a holder, which a shutdown does not refuse. */
  add(request: Ask, givesBack: boolean): Promise<AddOutcome> {
    const { hot } = this
    if (hot !== undefined && !sluiceChannel.hasSubscribers) {
      try {
        return this.#asked(hot.ask(request, this.askOptions))
      } catch (error) {
        return Promise.reject(error)
      }
    }
    return this.#askSlowly(request, givesBack)
  }

  async #askSlowly(request: Ask, givesBack: boolean): Promise<AddOutcome> {
    this.refuseWhenEnding(request.key, givesBack)
    const answer = this.backend.add(request)
    return await this.#asked(answer instanceof Promise ? await answer : answer)
  }

  /**
   * Asks for a run that was accepted before, even if the queue was shut down since; with `user`
   * as one of the automatic attempts on the store.
   */
  async addAccepted(request: Ask, user: GateUser | undefined): Promise<AddOutcome> {
    if (this.phase === 'closed') throw this.closedError()
    const send = (): Awaitable<AskReply> => this.backend.add(request)
    return await this.#asked(await (user ? this.handle.gate.attempt(user, send) : send()))
  }

  #asked({ outcome }: AskReply): Promise<AddOutcome> {
    if (outcome === 'full') return Promise.reject(this.fullError())
    this.noteAdded(outcome)
    return resolvedAdd(outcome)
  }

  /** Acts on what an add has come to. */
  noteAdded(outcome: AddOutcome): void {
    this.asked += 1
    if (outcome === 'added' || outcome === 'moved') this.changed()
    else this.unchanged(outcome)
  }

  /** What an add says to a queue that holds maxPending keys. */
  fullError(): SluiceError {
    return queueFull(this.name, this.options.maxPending)
  }

  /** Throws if adds are not taken any more, unless a holder gives back work of its own. */
  refuseWhenEnding(key: string, givesBack: boolean): void {
    if (this.phase === 'open') return
    if (this.phase !== 'closed' && givesBack && this.helds.holds(key)) return
    throw this.phase === 'shutting-down' ? queueShutDown(this.name, key) : this.closedError()
  }

  closedError(): SluiceError {
    return queueClosed(this.name)
  }

  /** Something may be claimable that was not, or be due at another time. */
  changed(): void {
    if (this.waiters.size > 0) this.backend.handOut()
    if (this.peers.size > 1) this.handle.wake(this.name, this)
  }

  /**
   * A call changed nothing. If calls follow each other without a pause the alarm never gets to ring,
   * so whoever waits for a key that is due by now is served here.
   */
  unchanged(outcome: AddOutcome): void {
    if (outcome === 'unchanged') this.merged += 1
    if (this.waiters.size > 0 && this.backend.isDue()) this.backend.handOut()
  }

  /** Something may change once a transaction of the caller's commits. */
  wakeSoon(): void {
    nextTurn(() => this.wake())
  }

  /** It is known by now that a key was given back in a transaction of the caller's. */
  committed(held: HeldKey<unknown>): void {
    held.phase = 'finished'
    this.onGivenBack(held, true)
  }

  /** The store says that something may have changed. */
  wake(): void {
    if (this.phase === 'closed') return
    this.backend.refresh()
  }

  /** Takes a key at once, without waiting, if there is one and the way is short. */
  claimDirect(policy: HeldPolicy): HeldKey<unknown> | undefined {
    const { hot } = this
    if (hot === undefined || this.waiters.size > 0 || sluiceChannel.hasSubscribers) return undefined
    if (this.options.schema !== undefined) return undefined
    const held = this.blank.take(policy)
    if (!hot.claim(held, this.holder, never)) {
      this.blank.keep(held)
      return undefined
    }
    this.track(held)
    return held
  }

  /** Has somebody wait for keys, who gets none when the queue has ended. */
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
        if (!this.waiters.remove(waiter)) return
        waiter.giveUp()
        this.alarm.set()
      })
    }
    this.waiters.add(waiter)
    // On the short way, those who wait already have seen that there is nothing.
    if (this.hot === undefined || this.waiters.size === 1) this.backend.handOut()
  }

  /** Nobody of this crew waits any more. */
  dismiss(crew: WaiterGroup): void {
    for (const waiter of this.waiters.takeAllOf(crew)) waiter.giveUp()
    this.alarm.set()
  }

  /** Counts a key as held by this queue object. */
  track(held: HeldKey<unknown>): void {
    this.helds.add(held)
    this.keeper.start(held)
  }

  /** Hands keys to somebody who waited for them. */
  deliver(waiter: Waiter, helds: HeldKey<unknown>[]): void {
    if (this.inspection === undefined) waiter.answer(helds)
    else this.inspection.deliver(waiter, helds)
  }

  /** Gives a key back. */
  finish(held: HeldKey<unknown>, request: Finish): Promise<FinishOutcome> {
    if (held.phase !== 'held' || this.phase === 'closed') return resolvedFinish('lost')
    held.phase = 'finishing'
    try {
      const answer = this.backend.finish(held, request)
      return answer instanceof Promise ? answer : resolvedFinish(answer)
    } catch (error) {
      held.phase = 'held'
      return Promise.reject(error)
    }
  }

  /** Acts on what giving a key back has come to. */
  noteFinished(held: HeldKey<unknown>, finish: Finish, outcome: FinishOutcome): void {
    held.phase = 'finished'
    if (finish.as === 'done' && finish.forget && outcome !== 'lost') this.plans.forget(held)
    this.onGivenBack(held, outcome === 'ready' || outcome === 'delayed')
  }

  /** A key is not held any more. */
  onGivenBack(held: HeldKey<unknown>, hasMore: boolean): void {
    this.helds.remove(held)
    if (hasMore) this.changed()
    if (this.lifecycle.isWatched) this.lifecycle.onGivenBack()
  }

  /** A lease is lost: the holder is told, and the key is not renewed any more. */
  lose(held: HeldKey<unknown>, error: SluiceError): void {
    if (held.isLost) return
    if (held.mayBeGivenBack) {
      this.committed(held)
      return
    }
    this.helds.lose(held)
    held.abort(error)
    this.notice('lease-lost', { key: held.key, token: held.token })
    if (this.lifecycle.isWatched) this.lifecycle.onGivenBack()
  }

  #dropped(key: string, token: number): void {
    this.notice('held-dropped', { key, token })
    this.report(heldDropped(key))
    if (this.lifecycle.isWatched) this.lifecycle.onGivenBack()
  }
}
