import { type ErrorCode, SluiceError } from '@sluice/core'
import { random } from '../environment/environment.ts'

/** Errors of a store that may be reachable, or have room, again later. */
const transient: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_STORE',
  'ERR_STORE_BUSY',
  'ERR_STORE_FULL',
  'ERR_TIMEOUT',
  'ERR_UNKNOWN_OUTCOME',
])

/** Errors that no repetition changes: the call, the driver or the store must be fixed. */
const permanent: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_SCHEMA_NEWER',
  'ERR_SCHEMA_OLDER',
  'ERR_STORE_FOREIGN',
  'ERR_STORE_DAMAGED',
  'ERR_CONTRACT_VERSION',
  'ERR_CLOCK_MISMATCH',
  'ERR_INVALID_INPUT',
])

/** Whether an error ends workers, and getters, iterations and drains that wait. */
export function isPermanent(error: unknown): boolean {
  return SluiceError.is(error) && permanent.has(error.code)
}

/** Whether a call that failed with this error may succeed when it is repeated. */
export function isTransient(error: unknown): boolean {
  return SluiceError.is(error) && (error.retryable || transient.has(error.code))
}

/** How long the first and the longest wait between two tries last. */
export interface RetryDelay {
  readonly first: number
  readonly longest: number
}

/** The wait before the next of several tries: doubling, bounded, and never the same for two. */
export function retryDelayMs(tries: number, { first, longest }: RetryDelay): number {
  const bound = Math.min(longest, first * 2 ** Math.min(tries - 1, 30))
  return bound * (0.5 + random() / 2)
}
