import { type Awaitable, isPromise, SluiceError, systemClock } from '@sluice/core'

/** Waits for an answer, but not longer than `ms` of real time. Rejects then; the call itself continues. */
export function answeredIn<R>(
  answer: Awaitable<R>,
  ms: number,
  late: () => SluiceError,
): Awaitable<R> {
  if (!isPromise(answer)) return answer
  return new Promise((resolve, reject) => {
    const timer = systemClock.startTimer(ms, () => reject(late()))
    answer.then(resolve, reject).finally(() => timer.stop())
  })
}

/** The error of a call that was given up without harm, since it changes nothing, or was not made. */
export function notInTime(aim: string, callee = 'the store', cause?: unknown): SluiceError {
  const before = SluiceError.is(cause) ? `; an attempt before failed: ${cause.message}` : ''
  const message = `cannot ${aim}: ${callee} did not answer within timeoutMs${before}`
  return new SluiceError('ERR_TIMEOUT', message, { cause, retryable: true })
}

/** The same for a call that may be given up without harm, such as one that reads. */
export function inTime<R>(
  answer: Awaitable<R>,
  ms: number,
  aim: string,
  callee?: string,
): Awaitable<R> {
  return answeredIn(answer, ms, () => notInTime(aim, callee))
}

/** Waits in real time, and keeps the process alive meanwhile. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.startTimer(ms, resolve).ref()
  })
}

/**
 * By how much two instants may differ and count as one, in milliseconds.
 *
 * Instants are doubles, and sums of them are rounded: by up to half a millisecond where they are
 * greatest, and timers fire that much early. Code that insisted on the exact instant would set a
 * timer for the rest, which may be below the resolution of a clock.
 */
export const instantSlackMs = 0.5
