import { type Clock, checkNumber, checkObject, systemClock } from '@sluice/core'
import { Backoff } from './backoff.ts'
import type { BackoffManager } from './backoff-manager.ts'
import { checkCap, checkDuration } from './duration.ts'
import type { Random } from './random.ts'

/** How the waits of an {@link exponentialBackoffManager} grow. */
export interface ExponentialBackoffOptions {
  /** The first wait, in milliseconds. It is not capped. */
  readonly initialMs: number
  /** What a wait grows to at the most. 0 and `Infinity` mean ten years. */
  readonly maxMs: number
  /** After more than this without being asked, the next wait is the first one again. */
  readonly resetMs: number
  /** Each wait is this many times the one before. */
  readonly factor: number
  /** A random share of up to `jitter` times the wait is added. Zero, the default, and less: none. */
  readonly jitter?: number | undefined
  readonly clock?: Clock | undefined
  /** Where the chance of the jitter comes from: numbers from 0 to below 1. */
  readonly random?: Random | undefined
}

const members = ['initialMs', 'maxMs', 'resetMs', 'factor', 'jitter', 'clock', 'random']

/**
 * Waits longer and longer, up to `maxMs`, and starts over after an idle while.
 *
 * Idle means not asked for a wait for more than `resetMs`; what counts is the time since the last
 * call. So a loop that ran well for long enough begins with short waits when it fails again.
 */
export function exponentialBackoffManager(options: ExponentialBackoffOptions): BackoffManager {
  const { clock = systemClock, jitter, random, ...given } = checkObject('options', options, members)
  checkObject('options.clock', clock)
  const resetMs = checkDuration('options.resetMs', given.resetMs)
  const start = new Backoff({
    durationMs: checkDuration('options.initialMs', given.initialMs),
    capMs: checkCap('options.maxMs', given.maxMs),
    factor: checkNumber('options.factor', given.factor, { min: 0 }),
    steps: Infinity,
    jitter,
    random,
  })
  let own = start.copy()
  let askedMs = clock.monotonicMs()
  return {
    clock,
    nextMs: () => {
      const nowMs = clock.monotonicMs()
      if (nowMs - askedMs > resetMs) own = start.copy()
      askedMs = nowMs
      return own.step()
    },
  }
}
