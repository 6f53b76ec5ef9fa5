import type { EpochMs } from '../time/clock.ts'
import type { Ask, AskOptions, AskReply } from './ask.ts'
import type { Finish, FinishReply } from './claim.ts'
import type { AddOutcome, FinishOutcome, ForgetOutcome } from './outcomes.ts'

/** The result of a direct claim. The caller passes the object, so that the driver creates none. */
export interface DirectClaim {
  key: string
  /** See `Ask.item`. */
  itemText: string | undefined
  token: number
  /** The driver's handle of the key; passing it back saves a look-up. */
  handle: number
  failures: number
  crashes: number
  priority: number
  /** May be up to one turn of the event loop old. */
  askedAt: EpochMs
}

/**
 * The frequent verbs of one queue, synchronous and one key at a time: see `Driver.direct`. Every
 * verb means what the verb of the same name in `Driver` means for a batch of one. A driver with a
 * direct queue opens synchronously.
 *
 * Changes through a direct queue need not be reported to `watch`: its owner knows of them.
 */
export interface DirectQueue {
  /** The store's time. */
  now(): EpochMs

  /** An ask without a delay, a plan, a limit, a failure or a trace context. */
  add(
    key: string,
    item: string | undefined,
    priority: number,
    options: Omit<AskOptions, 'maxPending'>,
  ): AddOutcome

  /**
   * Whether adding the key now, without an item, is known to change nothing; false if finding out
   * would take longer than a glance. Called before {@link add}, with a `key` that is not validated
   * yet.
   */
  isNoOp?(key: string, priority: number): boolean

  /** Any other ask. */
  ask(request: Ask, options: AskOptions): AskReply

  /**
   * Claims one key without a lease into `into`; false if there is none, or if the caller has to use
   * `Driver.claim`, which reports expired leases.
   */
  claim(into: DirectClaim, holder: string, dueBy: EpochMs): boolean

  /** See `Claim.readyAt`, for the claim that filled `handle` and `token`. */
  readyAt?(handle: number, token: number): EpochMs

  /** See `Claim.trace`, for the claim that filled `handle` and `token`. */
  trace?(handle: number, token: number): string | undefined

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
