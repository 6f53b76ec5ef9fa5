import { type Clock, checkFunction, checkObject, checkSignal, systemClock } from '@sluice/core'
import { askCondition } from './ask-condition.ts'
import type { Backoff } from './backoff.ts'
import { timedOut } from './interrupted.ts'
import { neverAborted } from './never-aborted.ts'
import { pause } from './pause.ts'

/** Returns whether the awaited condition is true. The signal is aborted when the wait ends. */
export type Condition = (signal: AbortSignal) => boolean | PromiseLike<boolean>

/** Options of {@link exponentialBackoff}. */
export interface ExponentialBackoffWaitOptions {
  /** Ends the wait: before the next try, and in the middle of a pause. */
  readonly signal?: AbortSignal | undefined
  /** The clock that measures the waits. Default: the system's. */
  readonly clock?: Clock | undefined
}

/**
 * Tries `condition` until it is true, at most as often as `backoff` has steps, and pauses in
 * between for the delays of `backoff`. It steps through a copy, so that the argument does not
 * change.
 *
 * Resolves when the condition is true. Rejects with `ERR_TIMEOUT` when the steps are used up,
 * without a pause after the last try; with the error of the condition when that throws or rejects;
 * and with the signal's reason when that is aborted.
 *
 * As in the original, growing beyond the cap uses up the steps: one more pause follows, and no try.
 * Use `endsAtCap: false` to continue at the cap.
 */
export async function exponentialBackoff(
  backoff: Backoff,
  condition: Condition,
  options: ExponentialBackoffWaitOptions = {},
): Promise<void> {
  checkFunction('backoff.copy', checkObject('backoff', backoff).copy)
  checkFunction('condition', condition)
  const { signal = neverAborted(), clock = systemClock } = checkObject('options', options, [
    'signal',
    'clock',
  ])
  checkSignal('signal', signal)
  checkObject('clock', clock)
  const own = backoff.copy()
  while (own.steps > 0) {
    signal.throwIfAborted()
    if (await askCondition(condition, signal)) return
    if (own.steps === 1) break
    await pause(clock, own.step(), signal)
  }
  throw timedOut()
}
