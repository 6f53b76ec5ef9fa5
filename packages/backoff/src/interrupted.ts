import { SluiceError } from '@sluice/core'

/** The error of a wait that has used up its time or its tries. */
export function timedOut(): SluiceError {
  return new SluiceError('ERR_TIMEOUT', 'timed out waiting for the condition')
}

function isOne(error: Partial<Error>): boolean {
  if (SluiceError.is(error, 'ERR_TIMEOUT')) return true
  const { name } = error
  return name === 'AbortError' || name === 'TimeoutError'
}

/** Whether a function ended by the abort of its signal: those of Node throw an error with the reason as its cause. */
export function isAbortOf({ aborted, reason }: AbortSignal, error: unknown): boolean {
  if (!aborted) return false
  return (
    error === reason || (isObject(error) && error.name === 'AbortError' && error.cause === reason)
  )
}

/** Not `instanceof`: in a test of Jest, errors of Node are of another realm. */
function isObject(value: unknown): value is Partial<Error> {
  return typeof value === 'object' && value !== null
}

/**
 * Whether `error` means that a wait was interrupted: it has used up its time or its tries, or its
 * signal was aborted without a custom reason. Also true for errors with such an error as their
 * cause; not for errors of the condition.
 */
export function isInterrupted(error: unknown): boolean {
  const seen = new Set<unknown>()
  for (let at = error; isObject(at) && !seen.has(at); at = at.cause) {
    if (isOne(at)) return true
    seen.add(at)
  }
  return false
}
