import type { KeyStateWord } from '@sluice/core'

/** Which keys an operation on many is about: those for which all of it holds. */
export interface KeyFilter {
  readonly state?: KeyStateWord
  /** Only keys that start with this. */
  readonly prefix?: string
  /** Only keys with at least this many failures. */
  readonly failuresMin?: number
  /** Only keys whose last error has this code. */
  readonly errorCode?: string
  /** How many keys to touch at the most. Default 10,000. */
  readonly cap?: number
}

/** How many keys a filter finds. */
export interface SelectionCount {
  readonly count: number
  /** True if there are more than `cap`, which are left alone. */
  readonly capped: boolean
}

/** How an operation on many keys is begun. */
export interface BulkOptions {
  /** Told how many keys will be touched; unless it says true, none is. */
  readonly confirm?: (found: SelectionCount) => boolean | Promise<boolean>
}

/** What an operation on many keys did. */
export interface BulkResult extends SelectionCount {
  readonly confirmed: boolean
  /** How many keys are not as they were. */
  readonly changed: number
  /** How many were so already, or were gone when it was their turn. */
  readonly unchanged: number
}

/**
 * The keys that a filter finds, and what an operator can do to all of them.
 *
 * Each operation counts first and tells `confirm`, then works through the keys in their order, a
 * page at a time, each page in one step. It can be interrupted and made again: what was changed
 * already is not changed twice.
 */
export interface Selection {
  /** How many keys an operation would touch now. */
  count(): Promise<SelectionCount>
  /** Sets the keys aside; held ones when they are given back. */
  park(options?: BulkOptions): Promise<BulkResult>
  /** Puts parked keys back in line. */
  unpark(options?: BulkOptions & { readonly forget?: boolean }): Promise<BulkResult>
  /** Ends delays and back-offs. */
  runNow(options?: BulkOptions): Promise<BulkResult>
  /** Counts failures and crashes from zero again; what is owed stays as it is. */
  forget(options?: BulkOptions): Promise<BulkResult>
  /** Forgets all that is owed to the keys and counted of them. Holders go on holding. */
  remove(options?: BulkOptions): Promise<BulkResult>
}
