import { type Clock, checkNumber, checkObject, systemClock } from '@sluice/core'
import { Backoff } from '../backoff.ts'
import { checkCap, checkDuration } from '../duration.ts'
import type { Random } from '../random.ts'
import type { BackoffManager } from './backoff-manager.ts'

/** Options of an {@link exponentialBackoffManager}. */
export interface ExponentialBackoffOptions {
  /** The first wait, in milliseconds. It is not capped. */
  readonly initialMs: number
  /** The longest wait. 0 and `Infinity` mean ten years. */
  readonly maxMs: number
  /** After a longer time without a call, the waits start over. */
  readonly resetMs: number
  /** Each wait is this many times the one before. */
  readonly factor: number
  /** A random part of up to `jitter` times the wait is added. Zero, the default, and less: none. */
  readonly jitter?: number | undefined
  /** The clock that measures the waits. Default: the system's. */
  readonly clock?: Clock | undefined
  /** The source of randomness: numbers from 0 to below 1. Default: that of the runtime. */
  readonly random?: Random | undefined
}

const members = ['initialMs', 'maxMs', 'resetMs', 'factor', 'jitter', 'clock', 'random']

/**
 * Waits with growing delays, up to `maxMs`, and starts over after an idle time.
 *
 * Idle means no call for more than `resetMs`. So a loop that ran well for long enough begins with
 * short waits when it fails again.
 */
export function exponentialBackoffManager(options: ExponentialBackoffOptions): BackoffManager {
  const { clock = systemClock, jitter, random, ...given } = checkObject('options', options, members)
  checkObject('clock', clock)
  const resetMs = checkDuration('resetMs', given.resetMs)
  const start = new Backoff({
    durationMs: checkDuration('initialMs', given.initialMs),
    capMs: checkCap('maxMs', given.maxMs),
    factor: checkNumber('factor', given.factor, { min: 0 }),
    steps: Infinity,
    jitter,
    random,
  })
  let own = start.copy()
  let calledMs = clock.monotonicMs()
  return {
    clock,
    nextMs: () => {
      const nowMs = clock.monotonicMs()
      if (nowMs - calledMs > resetMs) own = start.copy()
      calledMs = nowMs
      return own.step()
    },
  }
}
