/**
 * The transition table of the contract as code: the one place where drivers that run JavaScript
 * decide what a verb does to a key, and what drivers that speak SQL are checked against.
 *
 *                  add, addAfter                claim
 *   idle ────────────▶ ready, delayed ─────────────────▶ processing ──┐
 *    ▲                     ▲                                  │       │ add, addAfter
 *    │                     │ retry, release, lease end        │       ▼
 *    │                     ├──────────────────────────────────┤     dirty
 *    │                     └────────────── done ──────────────│───────┘
 *    └──────────────────────────────────── done ──────────────┘
 *
 * Each function is one verb: it changes the state it is given and returns a named outcome. `now` is
 * the store's time, `seq` a number greater than every one drawn before it; a verb that does not
 * need it leaves it unused.
 */

export { add, addAfter, addLatest, ask, countedFailures } from './add.ts'
export { claim } from './claim.ts'
export { done, finish, parkHeld, release, retry } from './finish.ts'
export { expire, renew } from './lease.ts'
export { mergeRow } from './merge-row.ts'
export { park, remove, runNow, unpark } from './operate.ts'
export {
  cancel,
  countFailure,
  forget,
  hasStaleFailures,
  isClaimable,
  isGone,
  stateWord,
} from './pending.ts'
