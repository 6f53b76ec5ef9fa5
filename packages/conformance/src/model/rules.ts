import type { EpochMs, KeyState } from '@sluice/core'
import { transitions } from '@sluice/core/driver'
import { perKeyPart, planned } from './model-plan.ts'
import { storeTime } from './store-time.ts'

/**
 * All decisions of the model in one replaceable object: the transitions of the contract, and the
 * rules of a queue that concern more than one key.
 *
 * A mutant is the model with one of these replaced.
 */
export type Rules = {
  -readonly [Name in keyof typeof transitions]: (typeof transitions)[Name]
} & {
  /** The order: the higher priority first, then the earlier `readyAt`, then the lower `seq`. */
  comesBefore(a: KeyState, b: KeyState): number
  /** Whether a lease has expired. */
  isOver(state: KeyState, now: EpochMs): boolean
  /** Whether a key is handed out alone. */
  isAlone(state: KeyState): boolean
  /** The delay of a plan, for an ask or a retry. */
  planned: typeof planned
  /** The delay of a plan at the end of a lease. */
  perKeyPart: typeof perKeyPart
  /** The time of the store by a clock; called once for each clock. */
  storeTime: typeof storeTime
}

/** The rules of the contract. */
export const modelRules: Rules = {
  ...transitions,
  comesBefore: (a, b) => b.priority - a.priority || a.readyAt - b.readyAt || a.seq - b.seq,
  isOver: (state, now) => state.token !== 0 && state.leaseUntil <= now,
  isAlone: (state) => state.crashes > 1,
  planned,
  perKeyPart,
  storeTime,
}
