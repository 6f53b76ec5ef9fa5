import type {
  Ask,
  AskReply,
  Awaitable,
  CancelOutcome,
  EpochMs,
  Finish,
  FinishOutcome,
  ForgetOutcome,
} from '@sluice/core'
import { never } from '@sluice/core'
import type { HeldKey } from '../held/held-key.ts'
import { AgeKeeper, type HoldKeeper } from '../held/hold-keeper.ts'
import type { AlarmSetting } from './alarm.ts'
import type { Adds, Backend, Claims, Finishes } from './backend.ts'
import type { QueueCore } from './queue-core.ts'

/** A call that was made before there was a backend to carry it. */
interface EarlyCall {
  readonly carry: (backend: Backend) => void
  readonly fail: (error: unknown) => void
}

/**
 * Stands in for a backend until that is loaded: keeps the calls in their order, and makes them when
 * it is. Loading begins with the first call. From then on the queue object uses the other one; only
 * calls that a close began before reach this one.
 */
export class LateBackend implements Backend, Adds, Finishes, Claims {
  readonly adds: Adds = this
  readonly finishes: Finishes = this
  readonly claims: Claims = this
  readonly keeper: HoldKeeper
  readonly #core: QueueCore
  readonly #load: () => Promise<Backend>
  #calls: EarlyCall[] = []
  #loading: Promise<void> | undefined
  #backend: Backend | undefined
  #isStopped = false

  constructor(core: QueueCore, load: () => Promise<Backend>) {
    this.#core = core
    this.#load = load
    this.keeper = new AgeKeeper(core.helds)
  }

  #begin(): void {
    this.#loading ??= this.#load().then(
      (backend) => this.#loaded(backend),
      (error: unknown) => this.#failed(error),
    )
  }

  #loaded(backend: Backend): void {
    if (this.#isStopped) return
    this.#backend = backend
    this.#core.useBackend(backend)
    const calls = this.#calls
    this.#calls = []
    for (const { carry } of calls) carry(backend)
    if (this.#core.waiters.size > 0) backend.claims.handOut()
  }

  #failed(error: unknown): void {
    this.#loading = undefined
    this.#failCalls(error)
    for (const waiter of this.#core.waiters.takeAll()) waiter.fail(error)
  }

  #failCalls(error: unknown): void {
    const calls = this.#calls
    this.#calls = []
    for (const { fail } of calls) fail(error)
  }

  #later<R>(call: (backend: Backend) => Awaitable<R>): Awaitable<R> {
    if (this.#backend !== undefined) return call(this.#backend)
    return new Promise<R>((resolve, reject) => {
      const carry = (backend: Backend): void => {
        try {
          resolve(call(backend))
        } catch (error) {
          reject(error)
        }
      }
      this.#calls.push({ carry, fail: reject })
      this.#begin()
    })
  }

  add(ask: Ask): Awaitable<AskReply> {
    return this.#later(({ adds }) => adds.add(ask))
  }

  cancel(key: string): Awaitable<CancelOutcome> {
    return this.#later(({ adds }) => adds.cancel(key))
  }

  forget(key: string): Awaitable<ForgetOutcome> {
    return this.#later(({ adds }) => adds.forget(key))
  }

  failures(key: string): Awaitable<number> {
    return this.#later((backend) => backend.failures(key))
  }

  finish(held: HeldKey<unknown>, finish: Finish): Awaitable<FinishOutcome> {
    return this.#later(({ finishes }) => finishes.finish(held, finish))
  }

  len(): Awaitable<number> {
    return this.#later((backend) => backend.len())
  }

  now(isOver?: () => boolean): Awaitable<EpochMs> {
    return this.#later((backend) => backend.now(isOver))
  }

  isDrained(instant: EpochMs): Awaitable<boolean> {
    return this.#later((backend) => backend.isDrained(instant))
  }

  heartbeat(): Awaitable<void> {
    return this.#later(({ claims }) => claims.heartbeat())
  }

  unregister(): Awaitable<void> {
    return this.#later((backend) => backend.unregister())
  }

  async idle(): Promise<void> {
    // A load that fails rejects the calls that wait for it, and does not reject itself.
    if (this.#calls.length > 0) await this.#loading
    await this.#backend?.idle()
  }

  handOut(): void {
    if (this.#core.waiters.size > 0) this.#begin()
  }

  refresh(): void {
    this.handOut()
  }

  onTimer(): void {
    this.handOut()
  }

  releasePrefetched(): Awaitable<void> {
    return this.#backend?.claims.releasePrefetched()
  }

  // The following answers hold while no key was claimed, and none is known to be due.

  readonly beyondSlotsMax: number = 0

  isIdleSince(): boolean {
    return this.#core.waiters.size === 0
  }

  alarmSetting(): AlarmSetting {
    return { isWanted: false, isWaitedFor: false, inMs: never }
  }

  estimatedNow(): EpochMs {
    return this.#core.calls.handle.clock.now()
  }

  readyAt(): EpochMs {
    return never
  }

  isDue(): boolean {
    return false
  }

  takeAhead(): undefined {
    // Nothing was claimed.
  }

  onRan(): void {
    // No handler runs without a key.
  }

  onAcknowledged(): void {
    // No run can end.
  }

  giveUp(): void {
    this.#failCalls(this.#core.calls.closedError())
  }

  stop(): void {
    this.#isStopped = true
  }
}
