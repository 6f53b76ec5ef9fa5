import { type ErrorCode, SluiceError } from '@sluice/core'
import type { Patience } from './patience.ts'

/** What a store says that may be reachable, or have room, again later. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_STORE',
  'ERR_STORE_BUSY',
  'ERR_STORE_FULL',
  'ERR_TIMEOUT',
  'ERR_UNKNOWN_OUTCOME',
])

/** Whether an error may pass by itself, so that whatever waits goes on waiting. */
export function isTrouble(error: unknown): boolean {
  return SluiceError.is(error) && (error.retryable || passing.has(error.code))
}

/** How long to wait between tries while the store is in trouble. */
export const troublePatience: Patience = { first: 100, longest: 5_000 }
