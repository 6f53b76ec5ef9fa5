/**
 * What an add did.
 *
 * - `added`: a run is owed that was not owed before.
 * - `moved`: a run that was owed comes earlier, or at a higher priority (with `when: 'latest'`, later).
 * - `unchanged`: everything asked for was already owed.
 * - `parked`: the key is parked; what was asked is kept and runs once the key is unparked.
 * - `full`: the queue holds `maxPending` keys already; nothing was changed.
 */
export type AddOutcome = 'added' | 'moved' | 'unchanged' | 'parked' | 'full'

/**
 * What became of a key that its holder gave back.
 *
 * - `idle`: nothing is owed; the key is gone, or only its failure count is left.
 * - `ready`: it was asked for again while held, and can be claimed now.
 * - `delayed`: a run is owed later.
 * - `parked`: it is parked.
 * - `lost`: the token was no longer the key's; nothing was changed.
 */
export type FinishOutcome = 'idle' | 'ready' | 'delayed' | 'parked' | 'lost'

/** Whether a lease was extended, or the token was no longer the key's. */
export type RenewOutcome = 'renewed' | 'lost'

/**
 * What the end of a lease did: the key was given back (`expired`), given back and parked for having
 * crashed too often (`parked`), or nothing because the lease was renewed, finished or taken over
 * meanwhile (`lost`).
 */
export type ExpireOutcome = 'expired' | 'parked' | 'lost'

/** Whether there were failures or crashes to forget. */
export type ForgetOutcome = 'forgotten' | 'unchanged'

/** Whether a run was owed that is now taken back. */
export type CancelOutcome = 'cancelled' | 'unchanged'

/** What an operator's verb did to one key. */
export type OperateOutcome = 'changed' | 'unchanged' | 'missing'

/**
 * What an import did to one row: it was put in (`imported`), added to what was there already
 * (`merged`), or said nothing that was not there (`unchanged`).
 */
export type ImportOutcome = 'imported' | 'merged' | 'unchanged'

/** Whether a row was taken out, was not as it was listed any more, or was not there. */
export type DropOutcome = 'dropped' | 'changed' | 'missing'

/**
 * The state of a key, in the words that the API, the command line, the dashboard and the metrics
 * share. A key is in exactly one.
 *
 * - `ready`: owed a run that can be claimed now.
 * - `delayed`: owed a run at a later time that was asked for.
 * - `backoff`: owed a run at a later time that a limiter decided.
 * - `processing`: held by a worker.
 * - `dirty`: held by a worker, and asked for again.
 * - `parked`: set aside; it keeps what is asked of it and is not claimed.
 * - `idle`: owed nothing; only a count of failures is left.
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

/** Why a run is due when it is: asked for now, asked for later, or decided by a limiter. */
export type DueReason = 'add' | 'delay' | 'backoff'

/**
 * How an add and a delayed add of one key meet.
 *
 * - `client-go`: they are two promises; the key runs now, and again when the delay is over.
 * - `earliest`: they are one promise; the key runs once, at the earlier time.
 */
export type Dedupe = 'client-go' | 'earliest'
