import {
  type Clock,
  checkBoolean,
  checkFunction,
  checkObject,
  checkSignal,
  systemClock,
} from '@sluice/core'
import { checkDuration } from './duration.ts'
import type { Condition } from './exponential-backoff.ts'
import { timedOut } from './interrupted.ts'
import { neverAborted } from './never-aborted.ts'
import { pause } from './pause.ts'

/** How {@link pollUntil} asks, and for how long. */
export interface PollOptions {
  /** How often to ask, in milliseconds. 0: again and again, as soon as others had their turn. */
  readonly intervalMs: number
  /** Gives up after this many milliseconds. Left out, never. */
  readonly timeoutMs?: number | undefined
  /** Asks at once instead of after the first interval; then it asks once in any case. */
  readonly immediate?: boolean | undefined
  /** Gives up when it is aborted, with its reason. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
}

const members = ['intervalMs', 'timeoutMs', 'immediate', 'signal', 'clock']

/**
 * Asks `condition` once each interval until it holds.
 *
 * Resolves when it holds. Rejects with `ERR_TIMEOUT` after `timeoutMs`, with the reason of the
 * signal, or with the error of the condition. Giving up comes first: once time is up the condition
 * is not asked again, even if its turn comes at the same time; and the signal that the condition is
 * given is aborted, though a condition that is under way is awaited, and believed if it holds.
 *
 * A condition that takes longer than the interval is asked again right after; turns that were
 * missed are not made up for.
 */
export async function pollUntil(condition: Condition, options: PollOptions): Promise<void> {
  checkFunction('condition', condition)
  const given = checkObject('options', options, members)
  const { timeoutMs, immediate = false, signal = neverAborted(), clock = systemClock } = given
  const intervalMs = checkDuration('options.intervalMs', given.intervalMs)
  if (timeoutMs !== undefined) checkDuration('options.timeoutMs', timeoutMs)
  checkBoolean('options.immediate', immediate)
  checkSignal('options.signal', signal)
  checkObject('options.clock', clock)

  const over = new AbortController()
  const onAbort = () => over.abort(signal.reason)
  const onTimeout = () => over.abort(timedOut())
  if (signal.aborted) onAbort()
  else if (timeoutMs === 0) onTimeout()
  signal.addEventListener('abort', onAbort, { once: true })
  // Armed before anything else, so that it goes first when several are due.
  const timeout = timeoutMs === undefined ? undefined : clock.startTimer(timeoutMs, onTimeout)
  try {
    await poll(condition, intervalMs, immediate, clock, over.signal)
  } finally {
    timeout?.stop()
    signal.removeEventListener('abort', onAbort)
  }
}

async function poll(
  condition: Condition,
  intervalMs: number,
  immediate: boolean,
  clock: Clock,
  over: AbortSignal,
): Promise<void> {
  const startMs = clock.monotonicMs()
  let turn = 0
  if (immediate && (await condition(over))) return
  for (;;) {
    const leftMs = (turn + 1) * intervalMs - (clock.monotonicMs() - startMs)
    // A pause even if nothing is left: a condition that never waits would let nobody else run.
    await pause(clock, Math.max(0, leftMs), over)
    over.throwIfAborted()
    if (intervalMs > 0) {
      turn = Math.max(turn + 1, Math.floor((clock.monotonicMs() - startMs) / intervalMs))
    }
    if (await condition(over)) return
  }
}
