import {
  checkNumber,
  checkObject,
  checkOneOf,
  checkString,
  type KeyStateWord,
  keyStateWords,
} from '@sluice/core'

/** How many keys an operation touches unless something else is said. */
const capDefault = 10_000

/** Selects keys: those that match all members. */
export interface KeyFilter {
  readonly state?: KeyStateWord | undefined
  /** Only keys that start with this. */
  readonly prefix?: string | undefined
  /** Only keys with at least this many failures. */
  readonly failuresMin?: number | undefined
  /** Only keys whose last error has this code; its name stands for a missing code. */
  readonly errorCode?: string | undefined
  /** The greatest number of keys to change. Default 10,000. */
  readonly cap?: number | undefined
}

/** Checks a filter before anything is listed. */
export function checkFilter(filter: KeyFilter): KeyFilter & { readonly cap: number } {
  checkObject('filter', filter, ['state', 'prefix', 'failuresMin', 'errorCode', 'cap'])
  const { state, prefix, failuresMin, errorCode, cap = capDefault } = filter
  if (state !== undefined) checkOneOf('filter.state', state, keyStateWords)
  if (prefix !== undefined) checkString('filter.prefix', prefix)
  if (failuresMin !== undefined) {
    checkNumber('filter.failuresMin', failuresMin, { min: 0, integer: true })
  }
  if (errorCode !== undefined) checkString('filter.errorCode', errorCode)
  checkNumber('filter.cap', cap, { min: 1, integer: true })
  return { ...filter, cap }
}

/** How many keys a filter finds. */
export interface SelectionCount {
  readonly count: number
  /** True if there are more than `cap`, which are left alone. */
  readonly capped: boolean
}

/** How an operation on many keys is begun. */
export interface BulkOptions {
  /** Called with the number of keys that will be changed; unless it returns true, none is. Default: all are. */
  readonly confirm?: ((found: SelectionCount) => boolean | Promise<boolean>) | undefined
}

/** The result of an operation on many keys. */
export interface BulkResult extends SelectionCount {
  readonly confirmed: boolean
  /** How many keys are not as they were. */
  readonly changed: number
  /** How many were changed by others or deleted before their turn. */
  readonly unchanged: number
}

/**
 * The keys that match a filter, and the operations on all of them.
 *
 * Each operation counts the keys that it would change and calls `confirm`, then changes them in their
 * order, a page at a time, each page in one batch. It can be interrupted and repeated: a key that is
 * parked already is not parked again, and does not count for the cap.
 */
export interface Selection {
  /** How many keys match now. */
  count(): Promise<SelectionCount>
  /** Parks those that are not parked; held ones when they are given back. */
  park(options?: BulkOptions): Promise<BulkResult>
  /** Puts those that are parked back in line; `forget` resets their failures, and those of no other key. */
  unpark(options?: BulkOptions & { readonly forget?: boolean | undefined }): Promise<BulkResult>
  /** Ends delays and back-offs. */
  runNow(options?: BulkOptions): Promise<BulkResult>
  /** Resets failures and crashes of those that have any; pending runs stay. */
  forget(options?: BulkOptions): Promise<BulkResult>
  /**
   * Deletes pending runs, counts and parked marks. Holders keep holding their keys, so that a held key without
   * any of these is not counted.
   */
  remove(options?: BulkOptions): Promise<BulkResult>
}
