import {
  type Again,
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
import { resolvedFinish } from '../core/resolved.ts'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import type { DoneOptions, Held } from './held.ts'
import { retryAfter } from './retry-after.ts'

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
  /**
   * Keys that are being given back without having run, by their tokens: a worker that stops waits for
   * them.
   */
  readonly returning: Map<number, Promise<void>>
  finish(held: HeldKey<unknown>, request: Finish): Promise<FinishOutcome>
  onGivenBack(held: HeldKey<unknown>, hasMore: boolean): void
  lose(held: HeldKey<unknown>, error: SluiceError): void
}

/** Where a Held is between being handed out and being given back. */
export type HeldPhase = 'held' | 'finishing' | 'finished'

const absent: unique symbol = Symbol('absent')

/** Why the signal of a held key is not aborted any more: its handler has returned. */
const returned: unique symbol = Symbol('returned')

/** Checks the options of done; whether to forget. */
export function checkDoneOptions(options: DoneOptions | undefined): boolean {
  if (options === undefined) return false
  checkObject('options', options, ['forget'])
  return options.forget === undefined ? false : checkBoolean('forget', options.forget)
}

/**
 * A Held, with the members that its queue needs. Filled by a direct queue, or from a claim.
 *
 * One object per claim and no closures: this is the hot path (decision 0004).
 */
export class HeldKey<T> implements Held<T>, DirectClaim {
  key = ''
  itemText: string | undefined = undefined
  // Without a number at first, as every member that is no small integer: the engine then stores the
  // number that it is set to, where a member that starts with a number gets a box of its own.
  token!: number
  handle = 0
  failures = 0
  crashes = 0
  priority = 0
  askedAt!: EpochMs
  /** Its position in the order, unless it came from a direct queue: see `Backend.readyAt`. */
  readyAt!: EpochMs

  readonly owner: HeldOwner
  policy: HeldPolicy
  phase: HeldPhase = 'held'
  /** The lease is known to be lost, or past its local deadline. */
  isLost = false
  isDetached = false
  /** It was given back in a transaction that may have committed. */
  mayBeGivenBack = false
  /** Until when, on the monotonic clock, the lease is trusted. */
  deadline!: number
  /** Neighbours in the set of keys that this queue object holds. */
  previous: HeldKey<T> | undefined = undefined
  next: HeldKey<T> | undefined = undefined

  private value: unknown = absent
  private controller: AbortController | undefined = undefined
  private abortedWith: SluiceError | typeof returned | undefined = undefined

  constructor(owner: HeldOwner, policy: HeldPolicy) {
    this.owner = owner
    this.policy = policy
    this.deadline = Infinity
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
      if (typeof this.abortedWith === 'object') this.controller.abort(this.abortedWith)
    }
    return this.controller.signal
  }

  /** Aborts the signal; the first reason stays. */
  abort(reason: SluiceError): void {
    if (this.abortedWith !== undefined || this.phase === 'finished') return
    this.abortedWith = reason
    this.controller?.abort(reason)
  }

  /** The handler has returned: from now on an abort changes nothing. */
  noteReturned(): void {
    this.abortedWith ??= returned
  }

  /** Whether {@link noteReturned} was called: nothing waits for its finish. */
  get hasReturned(): boolean {
    return this.abortedWith === returned
  }

  done(options?: DoneOptions): Promise<FinishOutcome> {
    try {
      const forgets = checkDoneOptions(options)
      const { direct } = this.owner
      if (direct !== undefined) return resolvedFinish(this.doneDirect(direct, forgets))
      return this.owner.finish(this as HeldKey<unknown>, this.doneFinish(forgets, undefined))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The finish of a run that went well; with `again`, the key is added again. */
  doneFinish(forgets: boolean, again: Again | undefined): Finish {
    return { as: 'done', key: this.key, token: this.token, forget: forgets, again }
  }

  /** {@link done} through the direct queue, synchronously. */
  doneDirect(direct: DirectQueue, forgets: boolean): FinishOutcome {
    if (this.phase !== 'held') return 'lost'
    this.phase = 'finished'
    // An order of the user's that throws does so once the key is given back.
    let outcome: FinishOutcome = 'ready'
    try {
      outcome = direct.done(this.handle, this.token, forgets)
    } finally {
      if (forgets && outcome !== 'lost') this.owner.plans.forget(this)
      // A key that was parked or lost has no run to wake for, but comparing once is enough.
      this.owner.onGivenBack(this as HeldKey<unknown>, outcome !== 'idle')
    }
    return outcome
  }

  retry(error?: unknown): Promise<FinishOutcome> {
    // A limiter of the user's must not count a failure that is not one.
    if (this.phase !== 'held' || this.owner.phase === 'closed') return resolvedFinish('lost')
    try {
      return this.owner.finish(this as HeldKey<unknown>, this.retryFinish(error))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The finish of a run that failed. A limiter of the user's counts the failure here. */
  retryFinish(error: unknown, priority: number | undefined = undefined): Finish {
    return {
      as: 'retry',
      key: this.key,
      token: this.token,
      ...this.policy.retryAs(this as HeldKey<unknown>),
      ...retryAfter(error),
      priority,
      error: this.owner.calls.describe(error),
    }
  }

  release(): Promise<FinishOutcome> {
    const { key, token } = this
    return this.owner.finish(this as HeldKey<unknown>, { as: 'release', key, token })
  }

  park(error?: unknown): Promise<FinishOutcome> {
    return this.owner.finish(this as HeldKey<unknown>, this.parkFinish(error))
  }

  /** The finish that parks the key. */
  parkFinish(error: unknown): Finish {
    const { key, token } = this
    return { as: 'park', key, token, error: this.owner.calls.describe(error) }
  }

  detach(): this {
    this.isDetached = true
    return this
  }

  /** What a log shows: the other members lead to the whole queue. */
  toJSON(): object {
    const { key, item, token, failures, crashes, priority, addedAt } = this
    return { key, item, token, failures, crashes, priority, addedAt }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.phase !== 'held') return
    await (this.policy.disposeAs === 'retry' ? this.retry() : this.release())
  }
}

// What `console.log` calls.
Object.defineProperty(HeldKey.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: HeldKey.prototype.toJSON,
})
