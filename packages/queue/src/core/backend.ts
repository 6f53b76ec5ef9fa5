import type {
  AddOutcome,
  Ask,
  AskReply,
  Awaitable,
  CancelOutcome,
  EpochMs,
  Finish,
  FinishOutcome,
  ForgetOutcome,
} from '@sluice/core'
import type { HeldKey, HeldPolicy } from '../held/held-key.ts'
import type { HoldKeeper } from '../held/hold-keeper.ts'
import type { Leases } from '../leases/leases.ts'
import type { AlarmSetting } from './alarm.ts'

/** The calls that change the pending runs of keys without holding them. */
export interface Adds {
  add(ask: Ask): Awaitable<AskReply>
  cancel(key: string): Awaitable<CancelOutcome>
  forget(key: string): Awaitable<ForgetOutcome>
}

/** Is called with the outcome of a finish. */
export interface FinishReceiver {
  finished(outcome: FinishOutcome): void
  finishFailed(error: unknown): void
}

/** The calls that give keys back. */
export interface Finishes {
  /** Gives a key back, and has the core note the outcome in the turn of the answer. */
  finish(held: HeldKey<unknown>, finish: Finish): Awaitable<FinishOutcome>
  /** {@link Finishes.finish} without a promise, where the answer comes later. */
  finishFor?(held: HeldKey<unknown>, finish: Finish, receiver: FinishReceiver): void
}

/** The claims of a queue object: from the store to its waiters. */
export interface Claims {
  /** Something may be claimable: hands keys out to the waiters. `isNews`: it may not have been before. */
  handOut(isNews?: boolean): void
  /** Something may have changed that this process does not know of, then {@link Claims.handOut}. */
  refresh(): void
  /** The alarm went off: checks for due keys, at the least cost to an idle store. */
  onTimer(): void
  /** Registers the worker of this process with the store, unless that was done recently. */
  heartbeat(): Awaitable<void>
  /** See `QuietOwner.isIdleSince`. */
  isIdleSince(instant: number): boolean
  /** When the alarm is to go off. */
  alarmSetting(): AlarmSetting
  /** Takes a key that was claimed ahead, for a caller whose turn it is. */
  takeAhead(policy: HeldPolicy): HeldKey<unknown> | undefined
  /** How many keys may be claimed ahead of workers or wait for an acknowledgement, at present. */
  readonly beyondSlotsMax: number
  /** A handler of a worker ran for so long. */
  onRan(ms: number): void
  /** The store has acknowledged the finish of a run of a worker. */
  onAcknowledged(): void
  /** Gives back keys that were claimed ahead of demand. */
  releasePrefetched(): Awaitable<void>
  /** The same for those whose leases have expired, where keys are claimed ahead. */
  giveBackExpired?(): void
}

/**
 * How the calls of a queue object reach its driver: one by one where the driver lives in this
 * process, or gathered into batches. What a call means does not depend on it.
 */
export interface Backend {
  readonly adds: Adds
  readonly finishes: Finishes
  readonly claims: Claims
  /** Keeps the keys that the queue object holds. */
  readonly keeper: HoldKeeper
  /** Absent where the keys of this queue object have no leases. */
  readonly leases?: Leases
  /** Adds several keys that no holder gives back, where that is cheaper than one by one. */
  addMany?(asks: readonly Ask[]): Promise<AddOutcome[]>
  /**
   * Finishes several runs, where that is cheaper than one by one. `heldAt` is called when it is a
   * Held's turn, so that none of them is found twice.
   */
  doneMany?(
    count: number,
    heldAt: (at: number) => HeldKey<unknown> | undefined,
    forget: boolean,
  ): Promise<FinishOutcome[]>
  /** How many failures are counted of a key. */
  failures(key: string): Awaitable<number>
  /** How many keys are ready. */
  len(): Awaitable<number>
  /** The store's time; asked for until there is an answer, or `isOver` after an attempt that failed. */
  now(isOver?: () => boolean): Awaitable<EpochMs>
  /** The store's time, estimated from its last answer; makes no call. */
  estimatedNow(): EpochMs
  /** The position in the order that a key had before it was taken; `never` if that is unknown. */
  readyAt(held: HeldKey<unknown>): EpochMs
  /** Whether nothing that was due at `instant` can be taken any more. */
  isDrained(instant: EpochMs): Awaitable<boolean>
  /** Whether something is due, as far as that is known without a call. */
  isDue(): boolean
  /** Registers the worker with the store as one that takes no more keys. */
  unregister(): Awaitable<void>
  /** Resolves when every accepted call is answered. */
  idle(): Awaitable<void>
  /** Answers every call that has no answer yet: its queue is closed, and no longer waits for it. */
  giveUp(): void
  /** Ends what runs automatically. */
  stop(): void
}
