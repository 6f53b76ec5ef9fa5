/** A signal that is never aborted. A new one each time, so that listeners do not pile up. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal
}
