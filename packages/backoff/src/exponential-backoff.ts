import { type Clock, checkFunction, checkObject, checkSignal, systemClock } from '@sluice/core'
import { Backoff } from './backoff.ts'
import { timedOut } from './interrupted.ts'
import { neverAborted } from './never-aborted.ts'
import { pause } from './pause.ts'

/** Whether what is waited for has come about. The signal says when nobody waits any more. */
export type Condition = (signal: AbortSignal) => boolean | PromiseLike<boolean>

/** What can be said about {@link exponentialBackoff}. */
export interface ExponentialBackoffWaitOptions {
  /** Ends the wait: before the next try, and in the middle of a pause. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
}

/**
 * Tries `condition` until it holds, at most as often as `backoff` has steps, and pauses in between
 * for what `backoff` says. A copy is stepped through; the one that was given stays as it is.
 *
 * Resolves when the condition holds. Rejects with `ERR_TIMEOUT` when the steps are used up, without
 * a pause after the last try; with the error of the condition when that throws or rejects; and with
 * the signal's reason when that is aborted.
 *
 * As in the original, a backoff that grows beyond its cap uses up its steps by that: there is one
 * more pause and then no try. Give it `endsAtCap: false` to go on at the cap.
 */
export async function exponentialBackoff(
  backoff: Backoff,
  condition: Condition,
  options: ExponentialBackoffWaitOptions = {},
): Promise<void> {
  if (!(backoff instanceof Backoff)) checkFunction('backoff.copy', checkObject('backoff', backoff))
  checkFunction('condition', condition)
  const { signal = neverAborted(), clock = systemClock } = checkObject('options', options, [
    'signal',
    'clock',
  ])
  checkSignal('options.signal', signal)
  checkObject('options.clock', clock)
  const own = backoff.copy()
  while (own.steps > 0) {
    signal.throwIfAborted()
    if (await condition(signal)) return
    if (own.steps === 1) break
    await pause(clock, own.step(), signal)
  }
  throw timedOut()
}
