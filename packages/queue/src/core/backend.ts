import type {
  Ask,
  AskReply,
  Awaitable,
  CancelOutcome,
  EpochMs,
  Finish,
  FinishOutcome,
  FinishReply,
  ForgetOutcome,
} from '@sluice/core'
import type { Answers } from '../batched/batch-job.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { AlarmSetting } from './alarm.ts'

/**
 * How a queue's calls reach its driver: one by one through the door of a driver in this process, or
 * gathered into batches. What a call means does not depend on it.
 */
export interface Backend {
  add(ask: Ask): Awaitable<AskReply>
  /** Several asks at once, where that is cheaper than one by one. */
  addMany?(asks: readonly Ask[], answers: Answers<AskReply>): void
  cancel(key: string): Awaitable<CancelOutcome>
  forget(key: string): Awaitable<ForgetOutcome>
  /** How many failures are counted of a key. */
  failures(key: string): Awaitable<number>
  /** Gives a key back, and has the engine note what came of it in the turn of the answer. */
  finish(held: HeldKey<unknown>, finish: Finish): Awaitable<FinishOutcome>
  /** Gives back several keys at once, where that is cheaper than one by one. */
  finishMany?(
    helds: readonly HeldKey<unknown>[],
    finishes: readonly Finish[],
    answers: Answers<FinishReply>,
  ): void
  /** How many keys are ready. */
  len(): Awaitable<number>
  /** The store's time. */
  now(): Awaitable<EpochMs>
  /** The store's time, from when it was last told; asks nobody. */
  estimatedNow(): EpochMs
  /** Where a key stood in line before it was taken; `never` if that cannot be told. */
  readyAt(held: HeldKey<unknown>): EpochMs
  /** Whether nothing that was due at `instant` can be taken any more. */
  isDrained(instant: EpochMs): Awaitable<boolean>
  /** Whether it is time to look, as far as that is known without asking anybody. */
  isDue(): boolean
  /** Something may be claimable: hands out what there is to those who wait. */
  handOut(): void
  /** Something may have changed that this process does not know of, then {@link Backend.handOut}. */
  refresh(): void
  /** The alarm went off: looks, at the least cost to an idle store. */
  onTimer(): void
  /** Lets the store know that the worker here is alive. */
  heartbeat(): Awaitable<void>
  /** The same, however lately the store has heard of it. */
  unregister(): Awaitable<void>
  /** When to look again by itself. */
  alarmSetting(): AlarmSetting
  /** Gives back keys that were claimed ahead of demand. */
  releasePrefetched(): Awaitable<void>
  /** Resolves when every accepted call is answered. */
  idle(): Awaitable<void>
  /** Answers every call that has no answer yet: its queue is closed, and no longer waits for it. */
  giveUp(): void
  /** Ends what runs automatically. */
  stop(): void
}
