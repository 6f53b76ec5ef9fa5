/**
 * The outcome of an add.
 *
 * - `added`: a run is pending that was not pending before.
 * - `moved`: the pending run is due earlier, or has a higher priority (with `when: 'latest'`,
 *   later).
 * - `unchanged`: the add was merged into a run that was pending already.
 * - `parked`: the key is parked; the run is stored and starts once the key is unparked.
 * - `full`: the queue has `maxPending` pending keys already; nothing was changed.
 */
export type AddOutcome = 'added' | 'moved' | 'unchanged' | 'parked' | 'full'

/**
 * The state of a key after its holder gave it back.
 *
 * - `idle`: no run is pending; the key is deleted, or only its failure count is left.
 * - `ready`: it was added again while held, and can be claimed now.
 * - `delayed`: a run is pending that is due later.
 * - `parked`: it is parked.
 * - `lost`: the token was no longer the key's; nothing was changed.
 */
export type FinishOutcome = 'idle' | 'ready' | 'delayed' | 'parked' | 'lost'

/** `lost`: the token was no longer the key's. */
export type RenewOutcome = 'renewed' | 'lost'

/**
 * The outcome of an expired lease: the key was given back (`expired`), given back and parked
 * because it has crashed too often (`parked`), or not changed because the lease was renewed,
 * finished or replaced meanwhile (`lost`).
 */
export type ExpireOutcome = 'expired' | 'parked' | 'lost'

/** `unchanged`: the key had no failures or crashes. */
export type ForgetOutcome = 'forgotten' | 'unchanged'

/** `unchanged`: no run was pending. */
export type CancelOutcome = 'cancelled' | 'unchanged'

/** The effect of an operator's verb on one key. */
export type OperateOutcome = 'changed' | 'unchanged' | 'missing'

/**
 * The effect of an import on one row: it was stored (`imported`), merged into the stored key
 * (`merged`), or contained nothing new (`unchanged`).
 */
export type ImportOutcome = 'imported' | 'merged' | 'unchanged'

/** Whether a key was deleted, had changed since it was listed, or was not there. */
export type DropOutcome = 'dropped' | 'changed' | 'missing'

/**
 * The state of a key, in the words that the API, the command line, the dashboard and the metrics
 * share. A key is in exactly one.
 *
 * - `ready`: its pending run can be claimed now.
 * - `delayed`: its pending run is due later, at a time that the caller chose.
 * - `backoff`: its pending run is due later, at a time that a limiter, or the error of its run, chose.
 * - `processing`: held by a worker.
 * - `dirty`: held by a worker, with another run pending.
 * - `parked`: not claimed until it is unparked; its runs stay pending.
 * - `idle`: no run is pending; only its failure count is kept.
 */
export type KeyStateWord =
  | 'ready'
  | 'delayed'
  | 'backoff'
  | 'processing'
  | 'dirty'
  | 'parked'
  | 'idle'

/** All state words, in the order in which lists show them. */
export const keyStateWords: readonly KeyStateWord[] = [
  'ready',
  'delayed',
  'backoff',
  'processing',
  'dirty',
  'parked',
  'idle',
]

/** Why a run is due when it is: added for now, added for later, or decided by a limiter. */
export type DueReason = 'add' | 'delay' | 'backoff'

/**
 * How an add and a delayed add of one key are merged.
 *
 * - `client-go`: they are two runs; the key runs now, and again after the delay.
 * - `earliest`: they are one run; the key runs once, at the earlier time.
 */
export type Dedupe = 'client-go' | 'earliest'
