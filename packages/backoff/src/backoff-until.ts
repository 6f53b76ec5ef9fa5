import { checkBoolean, checkDelay, checkFunction, checkObject, checkSignal } from '@sluice/core'
import { Alarm } from './alarm.ts'
import { isAbortOf } from './interrupted.ts'
import { errorHandler, type LoopErrorOptions } from './loop-errors.ts'
import type { BackoffManager } from './managers/backoff-manager.ts'
import { neverAborted } from './never-aborted.ts'

/** The function of a loop. It is awaited; the signal is aborted when the loop has to end. */
export type LoopFn = (signal: AbortSignal) => unknown

/** Options of {@link backoffUntil}. */
export interface BackoffUntilOptions extends LoopErrorOptions {
  /** Ends the loop. By default, only an error ends it. */
  readonly signal?: AbortSignal | undefined
  /**
   * True, the default: the wait begins when the function has ended. False: it begins when the
   * function begins; a run that takes longer is followed by the next at once, and missed runs are
   * not made up for.
   */
  readonly sliding?: boolean | undefined
}

const members = ['signal', 'sliding', 'onError', 'report']

/**
 * Runs `fn` in a loop until the signal is aborted, and waits in between as the manager decides. The
 * first run starts at once.
 *
 * Resolves when it was stopped: after the current run has ended, even by throwing the signal's
 * reason or an `AbortError` of Node with it as its cause, and without waiting after it. An abort takes precedence: `fn` does not run again, even if
 * the wait ended at the same time. While it waits it keeps the process alive.
 */
export async function backoffUntil(
  fn: LoopFn,
  manager: BackoffManager,
  options: BackoffUntilOptions = {},
): Promise<void> {
  checkFunction('fn', fn)
  checkObject('manager', manager)
  checkFunction('manager.nextMs', manager.nextMs)
  const { signal = neverAborted(), sliding = true } = checkObject('options', options, members)
  checkSignal('signal', signal)
  checkBoolean('sliding', sliding)
  const handleError = errorHandler(options)
  const alarm = new Alarm(checkObject('manager.clock', manager.clock))
  const setAlarm = () => alarm.set(checkDelay('manager.nextMs()', manager.nextMs()))
  try {
    while (!signal.aborted) {
      if (!sliding) setAlarm()
      try {
        await fn(signal)
      } catch (error) {
        // A function that passes the signal on ends by its abort: that is no failure.
        if (isAbortOf(signal, error)) return
        handleError(error)
      }
      if (sliding) setAlarm()
      await alarm.wait(signal)
    }
  } finally {
    alarm.stop()
  }
}
