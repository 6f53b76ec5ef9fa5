import type { Dedupe } from '@sluice/core'

/**
 * The states of a key before a verb. `now`: a run is pending now. `later`: a run is pending 100 ms
 * from the verb. `last`: another one is pending 300 ms from the verb. `two`: the claim was made when
 * both were pending, so the later one is left.
 */
export type Start =
  | 'none'
  | 'now'
  | 'later'
  | 'now+later'
  | 'later+last'
  | 'held'
  | 'held+now'
  | 'held+later'
  | 'held+now+later'
  | 'held-of-two'

/** The verb; a number in its name is the delay that it requests, in milliseconds. */
export type Verb =
  | 'add'
  | 'add-after-50'
  | 'add-after-200'
  | 'claim'
  | 'done'
  | 'again-0'
  | 'again-50'
  | 'again-200'
  | 'retry-0'
  | 'retry-50'
  | 'retry-200'
  | 'release'
  | 'park'
  | 'expire-0'
  | 'expire-40'
  | 'expire-300'
  | 'cancel'
  | 'forget'

/** The outcome, and the times of the next run and of the second run, from the time of the verb. */
export type Cell = readonly [outcome: string, dueAt: number | null, laterAt: number | null]

/** One cell of the table, or one for each mode where they differ. */
export type Cells = Cell | Readonly<Record<Dedupe, Cell>>

function modes(clientGo: Cell, earliest: Cell): Cells {
  return { 'client-go': clientGo, earliest }
}

/** How long before the verb the lease ended, in the rows of `expire`. */
export const lateMs = 10

/** How long before the verb the key was brought into its state, in the rows of `expire`. */
export const agoMs: number = 1_000 + lateMs

/** The transition table of the contract, written by hand: every verb on every kind of key. */
export const table: Readonly<Record<Verb, Partial<Record<Start, Cells>>>> = {
  add: {
    none: ['added', 0, null],
    now: ['unchanged', 0, null],
    later: modes(['added', 0, 100], ['moved', 0, null]),
    'now+later': ['unchanged', 0, 100],
    'later+last': modes(['moved', 0, 100], ['moved', 0, 300]),
    held: ['added', 0, null],
    'held+now': ['unchanged', 0, null],
    'held+later': modes(['added', 0, 100], ['moved', 0, null]),
    'held+now+later': ['unchanged', 0, 100],
    'held-of-two': modes(['added', 0, 100], ['moved', 0, null]),
  },
  'add-after-50': {
    none: ['added', 50, null],
    now: modes(['added', 0, 50], ['unchanged', 0, null]),
    later: ['moved', 50, null],
    'now+later': modes(['moved', 0, 50], ['unchanged', 0, 100]),
    'later+last': ['moved', 50, 300],
    held: ['added', 50, null],
    'held+now': modes(['added', 0, 50], ['unchanged', 0, null]),
    'held+later': ['moved', 50, null],
    'held+now+later': modes(['moved', 0, 50], ['unchanged', 0, 100]),
    'held-of-two': ['moved', 50, null],
  },
  'add-after-200': {
    none: ['added', 200, null],
    now: modes(['added', 0, 200], ['unchanged', 0, null]),
    later: ['unchanged', 100, null],
    'now+later': ['unchanged', 0, 100],
    'later+last': ['unchanged', 100, 300],
    held: ['added', 200, null],
    'held+now': modes(['added', 0, 200], ['unchanged', 0, null]),
    'held+later': ['unchanged', 100, null],
    'held+now+later': ['unchanged', 0, 100],
    'held-of-two': ['unchanged', 100, null],
  },
  claim: {
    now: ['claimed', null, null],
    'now+later': ['claimed', 100, null],
    later: ['nothing', 100, null],
    'later+last': ['nothing', 100, 300],
    'held+now': ['nothing', 0, null],
  },
  done: {
    held: ['idle', null, null],
    'held+now': ['ready', 0, null],
    'held+later': ['delayed', 100, null],
    'held+now+later': ['ready', 0, 100],
    'held-of-two': ['delayed', 100, null],
  },
  'again-0': {
    held: ['ready', 0, null],
    'held+now': ['ready', 0, null],
    'held+later': modes(['ready', 0, 100], ['ready', 0, null]),
    'held+now+later': ['ready', 0, 100],
    'held-of-two': modes(['ready', 0, 100], ['ready', 0, null]),
  },
  'again-50': {
    held: ['delayed', 50, null],
    'held+now': modes(['ready', 0, 50], ['ready', 0, null]),
    'held+later': ['delayed', 50, null],
    'held+now+later': modes(['ready', 0, 50], ['ready', 0, 100]),
    'held-of-two': ['delayed', 50, null],
  },
  'again-200': {
    held: ['delayed', 200, null],
    'held+now': modes(['ready', 0, 200], ['ready', 0, null]),
    'held+later': ['delayed', 100, null],
    'held+now+later': ['ready', 0, 100],
    'held-of-two': ['delayed', 100, null],
  },
  'retry-0': {
    held: ['ready', 0, null],
    'held+now': ['ready', 0, null],
    'held+later': modes(['ready', 0, 100], ['ready', 0, null]),
    'held+now+later': ['ready', 0, 100],
    'held-of-two': modes(['ready', 0, 100], ['ready', 0, null]),
  },
  'retry-50': {
    held: ['delayed', 50, null],
    'held+now': modes(['ready', 0, 50], ['ready', 0, null]),
    'held+later': ['delayed', 50, null],
    'held+now+later': modes(['ready', 0, 50], ['ready', 0, 100]),
    'held-of-two': ['delayed', 50, null],
  },
  'retry-200': {
    held: ['delayed', 200, null],
    'held+now': modes(['ready', 0, 200], ['ready', 0, null]),
    'held+later': ['delayed', 100, null],
    'held+now+later': ['ready', 0, 100],
    'held-of-two': ['delayed', 100, null],
  },
  release: {
    held: ['ready', 0, null],
    'held+now': ['ready', 0, null],
    'held+later': modes(['ready', 0, 100], ['ready', 0, null]),
    'held+now+later': ['ready', 0, 100],
    'held-of-two': ['ready', 0, 100],
  },
  park: {
    held: ['parked', 0, null],
    'held+now': ['parked', 0, null],
    'held+later': modes(['parked', 0, 100], ['parked', 0, null]),
    'held+now+later': ['parked', 0, 100],
    'held-of-two': ['parked', 0, 100],
  },
  'expire-0': {
    held: ['expired', -lateMs, null],
    'held+now': ['expired', -agoMs, null],
    'held+later': modes(['expired', -lateMs, 100], ['expired', -lateMs, null]),
    'held+now+later': ['expired', -agoMs, 100],
    'held-of-two': modes(['expired', -lateMs, 100], ['expired', -lateMs, null]),
  },
  'expire-40': {
    held: ['expired', 40 - lateMs, null],
    'held+now': ['expired', -agoMs, null],
    'held+later': modes(['expired', 40 - lateMs, 100], ['expired', 40 - lateMs, null]),
    'held+now+later': ['expired', -agoMs, 100],
    'held-of-two': modes(['expired', 40 - lateMs, 100], ['expired', 40 - lateMs, null]),
  },
  'expire-300': {
    held: ['expired', 300 - lateMs, null],
    'held+now': ['expired', -agoMs, null],
    'held+later': modes(['expired', 100, 300 - lateMs], ['expired', 100, null]),
    'held+now+later': ['expired', -agoMs, 100],
    'held-of-two': modes(['expired', 100, 300 - lateMs], ['expired', 100, null]),
  },
  cancel: {
    none: ['unchanged', null, null],
    now: ['cancelled', null, null],
    later: ['cancelled', null, null],
    'now+later': ['cancelled', null, null],
    'later+last': ['cancelled', null, null],
    held: ['unchanged', null, null],
    'held+now+later': ['cancelled', null, null],
  },
  forget: {
    none: ['unchanged', null, null],
    'now+later': ['unchanged', 0, 100],
    'later+last': ['forgotten', 100, 300],
    'held+now+later': ['unchanged', 0, 100],
  },
}
