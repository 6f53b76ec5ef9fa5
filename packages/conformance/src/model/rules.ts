import { type EpochMs, type KeyState, transitions } from '@sluice/core'
import { perKeyPart, planned } from './model-plan.ts'
import { storeTime } from './model-time.ts'

/**
 * Everything that the model decides, in one replaceable object: the transitions of the contract,
 * and the rules of a queue that are not about one key alone.
 *
 * A mutant is the model with one of these replaced.
 */
export type Rules = {
  -readonly [Name in keyof typeof transitions]: (typeof transitions)[Name]
} & {
  /** Who comes first: the higher priority, then who became ready earlier, then who asked earlier. */
  comesBefore(a: KeyState, b: KeyState): number
  /** Whether a lease is over. */
  isOver(state: KeyState, now: EpochMs): boolean
  /** Whether a key is handed out alone. */
  isAlone(state: KeyState): boolean
  /** Works a plan out, for an ask or a retry. */
  planned: typeof planned
  /** Works a plan out for the end of a lease. */
  perKeyPart: typeof perKeyPart
  /** Makes the time of the store from a clock; called once for each clock. */
  storeTime: typeof storeTime
}

/** The rules as the contract has them. */
export const modelRules: Rules = {
  ...transitions,
  comesBefore: (a, b) => b.priority - a.priority || a.readyAt - b.readyAt || a.seq - b.seq,
  isOver: (state, now) => state.token !== 0 && state.leaseUntil <= now,
  isAlone: (state) => state.crashes > 0,
  planned,
  perKeyPart,
  storeTime,
}
