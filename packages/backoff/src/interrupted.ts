import { SluiceError } from '@sluice/core'

/** The error of a wait that has used up its time or its tries. */
export function timedOut(): SluiceError {
  return new SluiceError('ERR_TIMEOUT', 'timed out waiting for the condition')
}

function isOne(error: unknown): boolean {
  if (SluiceError.is(error, 'ERR_TIMEOUT')) return true
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
}

/**
 * Whether `error` means that a wait was interrupted: it has used up its time or its tries, or its
 * signal was aborted without a custom reason. Also true for errors with such an error as their
 * cause; not for errors of the condition.
 */
export function isInterrupted(error: unknown): boolean {
  const seen = new Set<unknown>()
  for (let at = error; at !== undefined && !seen.has(at); ) {
    if (isOne(at)) return true
    seen.add(at)
    at = at instanceof Error ? at.cause : undefined
  }
  return false
}
