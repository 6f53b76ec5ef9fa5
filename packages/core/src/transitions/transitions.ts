/**
 * The transition table of the contract as code: what each verb does to a key. Drivers in JavaScript
 * call these functions; drivers in SQL are tested against them.
 *
 *                  add, addAfter                claim
 *   idle ────────────▶ ready, delayed ─────────────────▶ processing ──┐
 *    ▲                     ▲                                  │       │ add, addAfter
 *    │                     │ retry, release, lease end        │       ▼
 *    │                     ├──────────────────────────────────┤     dirty
 *    │                     └────────────── done ──────────────│───────┘
 *    └──────────────────────────────────── done ──────────────┘
 *
 * Each function is one verb: it changes the state that is passed to it and returns a named outcome.
 * `now` is the store's time, `seq` a number greater than every one before it; a verb that does not
 * need it leaves it unused.
 */

export { add, addAfter, addLatest, ask, countedFailures } from './add.ts'
export { claim } from './claim.ts'
export { expire } from './expire.ts'
export { done, doneAgain, errorOf, finish, parkHeld, release, retry } from './finish.ts'
export { mergeRow } from './merge-row.ts'
export { park, remove, runNow, unpark } from './operate.ts'
export {
  cancel,
  countFailure,
  forget,
  hasStaleFailures,
  isClaimable,
  isGone,
  setPending,
  stateWord,
} from './pending.ts'
export { renew } from './renew.ts'
export { isTrace, mergeTraces } from './trace.ts'
