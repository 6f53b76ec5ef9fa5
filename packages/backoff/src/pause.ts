import type { Clock } from '@sluice/core'

/** Resolves `ms` from now; rejects with the signal's reason if it is aborted before. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      timer.stop()
      reject(signal.reason)
    }
    const timer = clock.startTimer(ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    timer.ref()
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
