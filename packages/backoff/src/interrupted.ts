import { SluiceError } from '@sluice/core'

/** The error of a wait whose time, or whose tries, ran out. */
export function timedOut(): SluiceError {
  return new SluiceError('ERR_TIMEOUT', 'timed out waiting for the condition')
}

function isOne(error: unknown): boolean {
  if (SluiceError.is(error, 'ERR_TIMEOUT')) return true
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
}

/**
 * Whether `error` says that a wait was cut short: its time or its tries ran out, or its signal was
 * aborted without a reason of its own. Holds for errors that have such a one as their cause, too;
 * not for errors of the condition.
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
