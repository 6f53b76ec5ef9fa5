import { type Clock, checkFunction, checkNumber, checkObject, systemClock } from '@sluice/core'
import { checkDuration } from '../duration.ts'
import { jittered } from '../jitter.ts'
import { defaultRandom, type Random } from '../random.ts'
import type { BackoffManager } from './backoff-manager.ts'

/** Options of a {@link jitteredBackoffManager}. */
export interface JitteredBackoffOptions {
  /** The wait, in milliseconds. */
  readonly durationMs: number
  /** A random part of up to `jitter` times the wait is added. Zero, the default, and less: none. */
  readonly jitter?: number | undefined
  /** The clock that measures the waits. Default: the system's. */
  readonly clock?: Clock | undefined
  /** The source of randomness: numbers from 0 to below 1. Default: that of the runtime. */
  readonly random?: Random | undefined
}

/** Waits for the same time each time, plus jitter. */
export function jitteredBackoffManager(options: JitteredBackoffOptions): BackoffManager {
  const {
    durationMs: ms,
    jitter = 0,
    clock = systemClock,
    random = defaultRandom,
  } = checkObject('options', options, ['durationMs', 'jitter', 'clock', 'random'])
  const durationMs = checkDuration('durationMs', ms)
  checkNumber('jitter', jitter)
  checkObject('clock', clock)
  checkFunction('random', random)
  return { clock, nextMs: () => jittered(durationMs, jitter, random) }
}
