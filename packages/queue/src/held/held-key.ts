import {
  checkBoolean,
  checkObject,
  type DirectClaim,
  type DirectQueue,
  decodeItem,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  type SluiceError,
} from '@sluice/core'
import type { Phase } from '../core/queue-errors.ts'
import { leaseLost } from '../core/queue-errors.ts'
import { resolvedFinish } from '../core/resolved.ts'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import type { DoneOptions, Held } from './held.ts'

/** The decisions of a layer about the keys that were taken through it. */
export interface HeldPolicy {
  /** How a Held ends whose scope is left without finishing it. */
  readonly disposeAs: 'retry' | 'release'
  /** How long a failed key waits: the members of a retry that the limiter fills in. */
  retryAs(
    held: HeldKey<unknown>,
  ): Pick<Extract<Finish, { as: 'retry' }>, 'delayMs' | 'plan' | 'jitter'>
}

/** The queue object that handed out a key. */
export interface HeldOwner {
  readonly calls: DriverCalls
  readonly phase: Phase
  readonly plans: RetryPlans
  /** See `QueueCore.direct`. */
  readonly direct: DirectQueue | undefined
  finish(held: HeldKey<unknown>, request: Finish): Promise<FinishOutcome>
  onGivenBack(held: HeldKey<unknown>, hasMore: boolean): void
  lose(held: HeldKey<unknown>, error: SluiceError): void
}

/** Where a Held is between being handed out and being given back. */
export type HeldPhase = 'held' | 'finishing' | 'finished'

const absent: unique symbol = Symbol('absent')

/** Checks the options of done; whether to forget. */
export function checkDoneOptions(options: DoneOptions | undefined): boolean {
  if (options === undefined) return false
  checkObject('options', options, ['forget'])
  return options.forget === undefined ? false : checkBoolean('options.forget', options.forget)
}

/**
 * A Held, with the members that its queue needs. Filled by a direct queue, or from a claim.
 *
 * One object per claim and no closures: this is the hot path (decision 0004).
 */
export class HeldKey<T> implements Held<T>, DirectClaim {
  key = ''
  itemText: string | undefined = undefined
  token = 0
  handle = 0
  failures = 0
  crashes = 0
  priority = 0
  askedAt: EpochMs = 0
  /** Its position in the order, unless it came from a direct queue: see `Backend.readyAt`. */
  readyAt: EpochMs = 0

  readonly owner: HeldOwner
  policy: HeldPolicy
  phase: HeldPhase = 'held'
  /** The lease is known to be lost, or past its local deadline. */
  isLost = false
  isDetached = false
  /** It was given back in a transaction that may have committed. */
  mayBeGivenBack = false
  /** Until when, on the monotonic clock, the lease is trusted. */
  deadline: number = Infinity
  /** Neighbours in the set of keys that this queue object holds. */
  previous: HeldKey<T> | undefined = undefined
  next: HeldKey<T> | undefined = undefined

  private value: unknown = absent
  private controller: AbortController | undefined = undefined
  private abortedWith: SluiceError | undefined = undefined

  constructor(owner: HeldOwner, policy: HeldPolicy) {
    this.owner = owner
    this.policy = policy
  }

  get item(): T {
    if (this.value === absent) this.value = decodeItem(this.key, this.itemText)
    return this.value as T
  }

  /** Sets the item to the output of a schema. */
  setItem(item: unknown): void {
    this.value = item
  }

  get addedAt(): EpochMs {
    return this.askedAt - (this.owner.calls.driver.ahead ?? 0)
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.abortedWith !== undefined) this.controller.abort(this.abortedWith)
    }
    return this.controller.signal
  }

  /**
   * Whether its run may begin. A key whose lease may have expired is lost, and left to that lease.
   */
  mayStart(): boolean {
    if (this.isLost) return false
    const { owner, deadline } = this
    if (deadline === Infinity || deadline > owner.calls.handle.clock.monotonicMs()) return true
    owner.lose(
      this as HeldKey<unknown>,
      leaseLost(this.key, 'it ended before work on it could begin'),
    )
    return false
  }

  /** Aborts the signal; the first reason stays. */
  abort(reason: SluiceError): void {
    if (this.abortedWith !== undefined || this.phase === 'finished') return
    this.abortedWith = reason
    this.controller?.abort(reason)
  }

  done(options?: DoneOptions): Promise<FinishOutcome> {
    let forgets: boolean
    try {
      forgets = checkDoneOptions(options)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.finishDone(forgets)
  }

  /** {@link done} with options that have been checked. */
  finishDone(forgets: boolean): Promise<FinishOutcome> {
    const { direct } = this.owner
    if (direct !== undefined) return resolvedFinish(this.doneDirect(direct, forgets))
    const { key, token } = this
    return this.owner.finish(this as HeldKey<unknown>, { as: 'done', key, token, forget: forgets })
  }

  /** {@link done} through the direct queue, synchronously. */
  doneDirect(direct: DirectQueue, forgets: boolean): FinishOutcome {
    if (this.phase !== 'held') return 'lost'
    this.phase = 'finished'
    const outcome = direct.done(this.handle, this.token, forgets)
    if (forgets && outcome !== 'lost') this.owner.plans.forget(this)
    this.owner.onGivenBack(this as HeldKey<unknown>, outcome === 'ready')
    return outcome
  }

  retry(error?: unknown): Promise<FinishOutcome> {
    const { key, token } = this
    // A limiter of the user's must not count a failure that is not one.
    if (this.phase !== 'held' || this.owner.phase === 'closed') return resolvedFinish('lost')
    let when: ReturnType<HeldPolicy['retryAs']>
    try {
      when = this.policy.retryAs(this as HeldKey<unknown>)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.owner.finish(this as HeldKey<unknown>, {
      as: 'retry',
      key,
      token,
      ...when,
      error: this.owner.calls.describe(error),
    })
  }

  release(): Promise<FinishOutcome> {
    const { key, token } = this
    return this.owner.finish(this as HeldKey<unknown>, { as: 'release', key, token })
  }

  park(error?: unknown): Promise<FinishOutcome> {
    const { key, token } = this
    return this.owner.finish(this as HeldKey<unknown>, {
      as: 'park',
      key,
      token,
      error: this.owner.calls.describe(error),
    })
  }

  detach(): this {
    this.isDetached = true
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.phase !== 'held') return
    await (this.policy.disposeAs === 'retry' ? this.retry() : this.release())
  }
}

// get() resolves with a Held. An own `then` that is undefined shows promises that it is no
// thenable, which shortens each resolution by about 15 ns, and keeps a patched
// Object.prototype.then out.
Object.defineProperty(HeldKey.prototype, 'then', { value: undefined })
