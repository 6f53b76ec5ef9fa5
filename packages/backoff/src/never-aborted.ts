/** A signal for a wait that nobody can stop. A new one each time, so that listeners do not pile up. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal
}
