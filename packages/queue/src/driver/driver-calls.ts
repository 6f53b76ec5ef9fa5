// This folder is everything between a queue object and its driver: opening, tracing, health, errors,
// and the spacing of attempts while the store is in trouble.

import {
  type AskOptions,
  type Awaitable,
  callerTrace,
  type Driver,
  type Failure,
  isPromise,
  type Lease,
  type ListReply,
  type ListRequest,
  type RenewReply,
  type RunRequest,
  type RunResult,
  SluiceError,
  type SluiceEvent,
  sluiceChannel,
  type TracedVerb,
} from '@sluice/core'
import { keysLeft, queueClosed, unknownOutcome } from '../core/queue-errors.ts'
import { randomName } from '../environment/environment.ts'
import { answeredIn } from '../environment/timing.ts'
import type { CheckedOptions } from '../queue/options.ts'
import { startDebugLog } from './debug-log.ts'
import { type Described, describeFailure } from './describe-failure.ts'
import { DriverHandle, type HandleUser, type PeerQueue } from './driver-handle.ts'
import { ErrorReports, type Remark } from './error-reports.ts'
import { Quiet, type QuietOwner } from './quiet.ts'
import type { GateUser } from './retry-gate.ts'
import { StoreHealth } from './store-health.ts'
import { notice, traced } from './traced.ts'

/** The queue object whose calls they are. */
export interface CallOwner extends QuietOwner, PeerQueue {
  /** Something may have become claimable; see {@link HandleUser.wake}. */
  wake(releases?: boolean): void
}

/**
 * The calls that one queue object makes of its driver: opened before they are made, published on
 * the tracing channel, watched for their health, and spaced while the store is in trouble.
 */
export class DriverCalls implements HandleUser, GateUser {
  readonly name: string
  /** The random name under which this queue object holds keys. */
  readonly holder: string = randomName()
  readonly driver: Driver
  /** The driver, shared with the other queue objects of this process. */
  readonly handle: DriverHandle
  readonly options: CheckedOptions<unknown>
  askOptions: AskOptions
  readonly health: StoreHealth = new StoreHealth(() => this.handle.gate.answered())
  /** The queue objects of this name in this process, this one included. */
  readonly peers: ReadonlySet<HandleUser>
  readonly quiet: Quiet
  readonly owner: CallOwner
  readonly #reports: ErrorReports
  #hasLeft = false
  #lastError: unknown
  #lastDescribed: Described | undefined

  constructor(options: CheckedOptions<unknown>, owner: CallOwner) {
    startDebugLog()
    this.options = options
    this.owner = owner
    this.name = options.name
    this.driver = options.driver
    this.handle = DriverHandle.of(options.driver, options.clock)
    const { dedupe, failuresExpireMs, maxPending } = options
    this.askOptions = { dedupe, failuresExpireMs, maxPending }
    this.#reports = new ErrorReports({
      queue: options.name,
      onError: options.onError,
      logger: options.logger,
      printed: this.handle.printed,
      event: () => this.#event('error', undefined),
    })
    this.quiet = new Quiet(options.quietAfterMs, this.handle, owner)
    this.peers = this.handle.join(this)
  }

  /** The store, or another queue object, says that something may have changed. */
  wake(releases?: boolean): void {
    this.owner.wake(releases)
  }

  get needsNews(): boolean {
    return this.quiet.needsNews
  }

  /** Makes the store usable; synchronously if it is already. */
  open(): Awaitable<void> {
    if (this.#hasLeft) throw this.closedError()
    return this.handle.isOpen ? undefined : this.#openHandle()
  }

  #openHandle(): Awaitable<void> {
    try {
      const opening = this.handle.open()
      this.health.record('open', opening)
      return opening
    } catch (error) {
      this.health.failed('open', error)
      throw error
    }
  }

  /** Calls `send` as soon as the store is usable. */
  opened<R>(send: () => Awaitable<R>): Awaitable<R> {
    const opening = this.open()
    return isPromise(opening) ? opening.then(send) : send()
  }

  /** Makes a call of the driver, traced, as soon as the store is usable. */
  call<R>(verb: TracedVerb, request: unknown, send: () => Awaitable<R>): Awaitable<R> {
    if (!this.handle.isOpen) return this.opened(() => this.call(verb, request, send))
    this.quiet.noteCall(verb)
    let answer: Awaitable<R>
    try {
      answer = sluiceChannel.hasSubscribers ? traced(this.#event(verb, request), send) : send()
    } catch (error) {
      this.health.failed(verb, error)
      throw error
    }
    this.health.record(verb, answer)
    return answer
  }

  /**
   * Makes a call that is not a call of the user's, or repeats one: spaced while the store is in
   * trouble. Rejects with ERR_CLOSED when the queue is closed before its turn.
   */
  attempt<R>(send: () => Awaitable<R>, isRef = true): Awaitable<R> {
    return this.handle.gate.attempt(this, send, isRef)
  }

  /** Makes a read-only call as soon as the store is usable; gives up after timeoutMs. */
  inquire<R>(send: () => Awaitable<R>): Awaitable<R> {
    return this.#unlessClosed(
      answeredIn(this.opened(send), this.options.timeoutMs, () =>
        this.handle.notInTime('look into the store'),
      ),
      () => true,
    )
  }

  /**
   * The driver fails the calls in flight when it is closed with this queue object, in words of its own.
   * `isCut`: whether such an error says no more than that.
   */
  #unlessClosed<R>(answer: Awaitable<R>, isCut: (error: unknown) => boolean): Awaitable<R> {
    if (!isPromise(answer)) return answer
    return answer.catch((error: unknown) => {
      throw this.#hasLeft && isCut(error) ? this.closedError() : error
    })
  }

  /** Lists keys; gives up after timeoutMs. */
  list(request: ListRequest): Awaitable<ListReply> {
    return this.inquire(() =>
      this.call('list', request, () => this.driver.list(this.name, request)),
    )
  }

  /**
   * Makes a call that changes the store; gives up after timeoutMs. Nothing was sent if the store could not
   * be used by then; otherwise the outcome is unknown.
   */
  change<R>(send: () => Awaitable<R>): Awaitable<R> {
    let isSent = false
    let isLate = false
    const answer = this.opened(() => {
      if (isLate) throw this.handle.notInTime('open the store')
      isSent = true
      return send()
    })
    return this.#unlessClosed(
      answeredIn(answer, this.options.timeoutMs, () => {
        isLate = true
        return isSent
          ? unknownOutcome('the store did not answer within timeoutMs')
          : this.handle.notInTime('open the store')
      }),
      (error) => !SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME'),
    )
  }

  /** Renews leases once. */
  renew(leases: readonly Lease[], leaseMs: number): Awaitable<readonly (RenewReply | Failure)[]> {
    return this.call('renew', { leases, leaseMs }, () =>
      this.driver.renew(this.name, leases, leaseMs),
    )
  }

  /** Begins a run of a handler, and publishes it, which says nothing about the store. */
  traceRun(run: { request(): RunRequest; begin(): Promise<RunResult | undefined> }): void {
    if (!sluiceChannel.hasSubscribers) void run.begin()
    else void traced(this.#event('run', run.request()), () => run.begin())
  }

  /** The trace context of the code that adds keys, to be stored with them. */
  callerTrace(): string | undefined {
    return callerTrace(this.name, this.driver)
  }

  /** Publishes an event that is no call. */
  notice(verb: TracedVerb, request: unknown): void {
    if (sluiceChannel.hasSubscribers) notice(this.#event(verb, request))
  }

  #event(verb: TracedVerb, request: unknown): SluiceEvent {
    const { name: queue, driver: source, holder } = this
    return { verb, queue, driver: source.name, source, holder, request }
  }

  /** The text that is stored of the error of a failed run. */
  describe(error: unknown): string | undefined {
    return this.described(error)?.text
  }

  /**
   * The description of the error of a failed run. A failed run is stored with its key and in the
   * history: its error is described once.
   */
  described(error: unknown): Described | undefined {
    if (error === undefined || error !== this.#lastError) {
      this.#lastDescribed = describeFailure(error, this.options, (failure) => this.report(failure))
      this.#lastError = error
    }
    return this.#lastDescribed
  }

  /** Reports an error that no call can return. */
  report(error: unknown): void {
    this.#reports.report(error)
  }

  /** Reports the keys that were not given back before something ended, if there are any. */
  reportLeft(keys: readonly string[], what: string, ended: string): void {
    if (keys.length === 0) return
    const { name, options } = this
    this.report(keysLeft(`${what} ${JSON.stringify(name)} was ${ended}`, keys, options.leaseMs))
  }

  /** Calls a listener, or else `say`; and `say` after what a listener has thrown. */
  tell(call: (() => unknown) | undefined, say: () => void): void {
    this.#reports.tell(call, say)
  }

  /** Says something that is no error of a call. */
  remark(remark: Remark): void {
    this.#reports.remark(remark)
  }

  /** Says something to the logger, if there is one. */
  log(text: string): void {
    this.#reports.log(text)
  }

  /** Reports an error that may repeat while the store is in trouble. */
  reportTrouble(error: unknown): void {
    this.#reports.reportTrouble(error)
  }

  /** Ends the use of the driver, which is closed with the last queue object that uses it. */
  leave(): Promise<void> {
    this.#hasLeft = true
    return this.handle.leave(this)
  }

  closedError(): SluiceError {
    return queueClosed(this.name)
  }
}
