import { type Awaitable, SluiceError, systemClock } from '@sluice/core'

/**
 * Waits for an answer, but not longer than `ms` of real time. Only for what may be given up without
 * harm, such as looking into a store: the call itself goes on.
 */
export function inTime<R>(
  answer: Awaitable<R>,
  ms: number,
  aim: string,
  who = 'the store',
): Awaitable<R> {
  if (!(answer instanceof Promise)) return answer
  return new Promise((resolve, reject) => {
    const timer = systemClock.startTimer(ms, () => {
      const message = `cannot ${aim}: ${who} did not answer within timeoutMs`
      reject(new SluiceError('ERR_TIMEOUT', message, { retryable: true }))
    })
    answer.then(resolve, reject).finally(() => timer.stop())
  })
}
