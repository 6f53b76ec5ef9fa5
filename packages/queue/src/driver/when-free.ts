import { type Awaitable, SluiceError, systemClock } from '@sluice/core'

/** The pause before the next try, in milliseconds. */
const pauseMs = 100

/**
 * Sends a change until no other session has a key of it locked: until then, nothing is done for that key.
 * Gives up after three quarters of `timeoutMs`: the outcome of a try that takes longer than the rest is unknown.
 */
export async function whenFree<R>(timeoutMs: number, send: () => Awaitable<R>): Promise<R> {
  const lastAt = systemClock.monotonicMs() + timeoutMs * 0.75
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_STORE_BUSY') || systemClock.monotonicMs() > lastAt)
        throw error
    }
    await new Promise<void>((resolve) => systemClock.startTimer(pauseMs, resolve).ref())
  }
}
