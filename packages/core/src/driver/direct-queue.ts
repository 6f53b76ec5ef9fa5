import type { EpochMs } from '../time/clock.ts'
import type { Ask, AskOptions, AskReply } from './ask.ts'
import type { Finish, FinishReply } from './claim.ts'
import type { AddOutcome, FinishOutcome, ForgetOutcome } from './outcomes.ts'

/** What a direct claim fills in: an object of the caller's, so that no other one need be made. */
export interface DirectClaim {
  key: string
  /** See `Ask.item`. */
  itemText: string | undefined
  token: number
  /** Where the driver keeps the key; handing it back saves a look-up. */
  handle: number
  failures: number
  crashes: number
  priority: number
  /** May be up to one turn of the event loop old. */
  askedAt: EpochMs
}

/**
 * The hot verbs of one queue, one key at a time, answered at once: see `Driver.direct`. Every verb
 * means what its namesake in `Driver` means for a batch of one. A driver with a door opens at once.
 *
 * What is done through the door need not be reported to `watch`: whoever opened it knows.
 */
export interface DirectQueue {
  /** The store's time. */
  now(): EpochMs

  /** An ask without a delay, a plan, a limit or a failure. */
  add(
    key: string,
    item: string | undefined,
    priority: number,
    options: Omit<AskOptions, 'maxPending'>,
  ): AddOutcome

  /**
   * Whether adding the key now, without an item, would change nothing, if that can be told at a
   * glance; to be asked before {@link add}, and before anybody has looked whether `key` can be one.
   */
  isNoOp?(key: string, priority: number): boolean

  /** Any other ask. */
  ask(request: Ask, options: AskOptions): AskReply

  /**
   * Claims one key without a lease into `into`; false if there is none, or if the caller has to go
   * through `Driver.claim` (which reports leases that are over).
   */
  claim(into: DirectClaim, holder: string, dueBy: EpochMs): boolean

  /** Where the claim that filled `handle` and `token` stood in line: see `Claim.readyAt`. */
  readyAt?(handle: number, token: number): EpochMs

  /** Finishes the claim that filled `handle` and `token`. */
  done(handle: number, token: number, forget: boolean): FinishOutcome

  /** Any other finish of that claim. */
  finish(handle: number, request: Finish, options: AskOptions): FinishReply

  forget(key: string): ForgetOutcome

  /** How many failures are counted for the key. */
  failures(key: string, failuresExpireMs: number): number

  /** How many keys are ready. */
  ready(): number

  /** See `TickReply.nextAt`. */
  nextAt(): EpochMs
}
