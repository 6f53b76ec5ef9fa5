import {
  type Clock,
  checkBoolean,
  checkDelay,
  checkFunction,
  checkObject,
  checkSignal,
  systemClock,
} from '@sluice/core'
import { askCondition } from './ask-condition.ts'
import type { DelayFn } from './backoff.ts'
import { checkDuration } from './duration.ts'
import type { Condition } from './exponential-backoff.ts'
import { timedOut } from './interrupted.ts'
import { neverAborted } from './never-aborted.ts'
import { pause } from './pause.ts'

/** Options of {@link pollUntil}. */
export interface PollOptions {
  /**
   * How long to wait before each poll, in milliseconds. A number is an interval: 0 polls
   * continuously, and lets other work run in between. A function, such as `backoff.delayFn()`, is
   * called once for each wait and returns how long it is; zero and less mean none.
   */
  readonly intervalMs: number | DelayFn
  /**
   * True: a wait begins when the condition has returned. False, the default: it begins when the
   * condition is called; a condition that takes longer than the wait is called again right after,
   * and missed polls are not made up for.
   */
  readonly sliding?: boolean | undefined
  /** Gives up after this many milliseconds. By default, never. */
  readonly timeoutMs?: number | undefined
  /**
   * Whether to poll at once instead of after the first wait; false by default. That first poll
   * happens even if the timeout is 0 or the signal is aborted already.
   */
  readonly immediate?: boolean | undefined
  /** Gives up when this signal is aborted, with its reason. */
  readonly signal?: AbortSignal | undefined
  /** The clock that measures the waits. Default: the system's. */
  readonly clock?: Clock | undefined
}

const members = ['intervalMs', 'sliding', 'timeoutMs', 'immediate', 'signal', 'clock']

/**
 * Polls `condition` until it is true: at each interval, or with growing delays.
 *
 * Resolves when it is true. Rejects with `ERR_TIMEOUT` after `timeoutMs`, with the reason of the
 * signal, or with the error of the condition or of the delay function. Giving up takes precedence:
 * after the timeout the condition is not called again, even if its next poll is due at the same
 * time. The condition's signal is then aborted; a running call is awaited, and its result counts.
 *
 * A non-sliding interval keeps its rhythm: after a slow condition, polls continue at multiples of
 * the interval since the start.
 */
export async function pollUntil(condition: Condition, options: PollOptions): Promise<void> {
  checkFunction('condition', condition)
  const given = checkObject('options', options, members)
  const { timeoutMs, sliding = false, immediate = false } = given
  const { signal = neverAborted(), clock = systemClock } = given
  const interval = checkInterval(given.intervalMs)
  if (timeoutMs !== undefined) checkDuration('timeoutMs', timeoutMs)
  checkBoolean('sliding', sliding)
  checkBoolean('immediate', immediate)
  checkSignal('signal', signal)
  checkObject('clock', clock)

  const over = new AbortController()
  const onAbort = () => over.abort(signal.reason)
  const onTimeout = () => over.abort(timedOut())
  if (signal.aborted) onAbort()
  else if (timeoutMs === 0) onTimeout()
  signal.addEventListener('abort', onAbort, { once: true })
  // Started before any other timer, so that it runs first when several are due.
  const timeout = timeoutMs === undefined ? undefined : clock.startTimer(timeoutMs, onTimeout)
  try {
    const schedule = sliding || typeof interval === 'function' ? delays(interval) : ticks(interval)
    await poll(condition, schedule, { sliding, immediate, clock }, over.signal)
  } finally {
    timeout?.stop()
    signal.removeEventListener('abort', onAbort)
  }
}

function checkInterval(intervalMs: unknown): number | DelayFn {
  if (typeof intervalMs !== 'function') return checkDuration('intervalMs', intervalMs)
  const delayFn = intervalMs as DelayFn
  return () => checkDelay('intervalMs()', delayFn())
}

/** The end of the wait that begins now; both in milliseconds since the start. */
type Schedule = (elapsedMs: number) => number

function delays(interval: number | DelayFn): Schedule {
  return (elapsedMs) => elapsedMs + (typeof interval === 'function' ? interval() : interval)
}

/**
 * Multiples of the interval. Counted, so that an interval without an exact float does not drift.
 */
function ticks(intervalMs: number): Schedule {
  if (intervalMs === 0) return delays(0)
  let tick = 0
  return (elapsedMs) => {
    tick = Math.max(tick, Math.floor(elapsedMs / intervalMs)) + 1
    return tick * intervalMs
  }
}

async function poll(
  condition: Condition,
  schedule: Schedule,
  { sliding, immediate, clock }: { sliding: boolean; immediate: boolean; clock: Clock },
  over: AbortSignal,
): Promise<void> {
  const startMs = clock.monotonicMs()
  const elapsedMs = () => clock.monotonicMs() - startMs
  // As in the original, a non-sliding first wait begins before the immediate poll.
  let dueMs = sliding && immediate ? 0 : schedule(0)
  if (immediate) {
    if (await askCondition(condition, over)) return
    if (sliding) dueMs = schedule(elapsedMs())
  }
  for (;;) {
    // A pause even if no time is left: a synchronous condition would let nothing else run.
    await pause(clock, Math.max(0, dueMs - elapsedMs()), over)
    over.throwIfAborted()
    if (!sliding) dueMs = schedule(elapsedMs())
    if (await askCondition(condition, over)) return
    if (sliding) dueMs = schedule(elapsedMs())
  }
}
