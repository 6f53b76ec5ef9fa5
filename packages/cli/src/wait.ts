import type { Clock } from '@sluice/core'

/** Waits for a time; resolves to true, or to false as soon as the signal is aborted. */
export async function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  return await new Promise((resolve) => {
    const timer = clock.startTimer(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve(true)
    })
    timer.ref()
    function stop(): void {
      timer.stop()
      resolve(false)
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** Rejects with the reason of a signal once it is aborted. */
export function aborted(signal: AbortSignal): { promise: Promise<never>; forget(): void } {
  let stop = (): void => {}
  const promise = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  promise.catch(() => {})
  return { promise, forget: () => signal.removeEventListener('abort', stop) }
}
