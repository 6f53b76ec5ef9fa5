import { checkBoolean, checkDelay, checkFunction, checkObject, checkSignal } from '@sluice/core'
import { Alarm } from './alarm.ts'
import type { BackoffManager } from './backoff-manager.ts'
import { errorHandler, type LoopErrorOptions } from './loop-errors.ts'
import { neverAborted } from './never-aborted.ts'

/** What a loop runs. It is awaited; the signal says when the loop is to end. */
export type LoopFn = (signal: AbortSignal) => unknown

/** When a loop ends, and how it waits. */
export interface BackoffUntilOptions extends LoopErrorOptions {
  /** Ends the loop. Left out, only an error does. */
  readonly signal?: AbortSignal | undefined
  /**
   * True, the default: the wait begins when the function has ended. False: it begins when the
   * function begins; a run that takes longer is followed by the next at once, and what was missed
   * is not made up for.
   */
  readonly sliding?: boolean | undefined
}

const members = ['signal', 'sliding', 'onError', 'report']

/**
 * Runs `fn` again and again until the signal is aborted, and waits in between for what the manager
 * says. The first run is at once.
 *
 * Resolves when it was stopped: not before a run that is under way has ended, be it by throwing the
 * signal's reason, and without waiting after it. Stopping comes first: `fn` is not run any more once the signal is aborted, even if the
 * wait ended at the same time. While it waits it keeps the process alive.
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
  checkSignal('options.signal', signal)
  checkBoolean('options.sliding', sliding)
  const handleError = errorHandler(options)
  const alarm = new Alarm(checkObject('manager.clock', manager.clock))
  const setAlarm = () => alarm.set(checkDelay('manager.nextMs()', manager.nextMs()))
  try {
    while (!signal.aborted) {
      if (!sliding) setAlarm()
      try {
        await fn(signal)
      } catch (error) {
        // Whoever passes the signal on is stopped by it, and says so.
        if (signal.aborted && error === signal.reason) return
        handleError(error)
      }
      if (sliding) setAlarm()
      await alarm.rung(signal)
    }
  } finally {
    alarm.stop()
  }
}
