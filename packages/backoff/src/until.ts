import { type Clock, checkNumber, checkObject } from '@sluice/core'
import { type BackoffUntilOptions, backoffUntil, type LoopFn } from './backoff-until.ts'
import { checkDuration } from './duration.ts'
import type { LoopErrorOptions } from './loop-errors.ts'
import { jitteredBackoffManager } from './managers/jittered-backoff-manager.ts'
import type { Random } from './random.ts'

/** Options of a loop with a fixed period. */
export interface ForeverOptions extends LoopErrorOptions {
  /** The clock that measures the period. Default: the system's. */
  readonly clock?: Clock | undefined
}

/** The same, for a loop that can be stopped. */
export interface UntilOptions extends ForeverOptions {
  /** Ends the loop. By default, only an error ends it. */
  readonly signal?: AbortSignal | undefined
}

/** The same, for a loop with jitter. */
export interface JitterUntilOptions extends UntilOptions {
  /** See {@link BackoffUntilOptions.sliding}; true by default. */
  readonly sliding?: boolean | undefined
  /** The source of randomness: numbers from 0 to below 1. Default: that of the runtime. */
  readonly random?: Random | undefined
}

const foreverMembers = ['clock', 'onError', 'report']
const untilMembers = [...foreverMembers, 'signal']
const jitterUntilMembers = [...untilMembers, 'sliding', 'random']

/** Runs `fn` at once, and again `periodMs` after each run has ended, until it is stopped. */
export async function until(
  fn: LoopFn,
  periodMs: number,
  options: UntilOptions = {},
): Promise<void> {
  await loop(fn, periodMs, 0, checkObject('options', options, untilMembers))
}

/**
 * Runs `fn` at once, and again `periodMs` after each run has begun, until it is stopped. A run that
 * takes longer is followed by the next at once.
 */
export async function nonSlidingUntil(
  fn: LoopFn,
  periodMs: number,
  options: UntilOptions = {},
): Promise<void> {
  checkObject('options', options, untilMembers)
  await loop(fn, periodMs, 0, { ...options, sliding: false })
}

/**
 * Runs `fn` at once and then once each period until it is stopped, each period plus a random part
 * of up to `jitterFactor` times the period; zero and less mean none.
 */
export async function jitterUntil(
  fn: LoopFn,
  periodMs: number,
  jitterFactor: number,
  options: JitterUntilOptions = {},
): Promise<void> {
  await loop(fn, periodMs, jitterFactor, checkObject('options', options, jitterUntilMembers))
}

/** {@link until} without an end: it can only reject, when `fn` fails. */
export async function forever(
  fn: LoopFn,
  periodMs: number,
  options: ForeverOptions = {},
): Promise<never> {
  await loop(fn, periodMs, 0, checkObject('options', options, foreverMembers))
  throw new Error('a loop without an end has ended')
}

async function loop(
  fn: LoopFn,
  periodMs: number,
  jitterFactor: number,
  { clock, random, ...options }: JitterUntilOptions,
): Promise<void> {
  const durationMs = checkDuration('periodMs', periodMs)
  const jitter = checkNumber('jitterFactor', jitterFactor)
  const manager = jitteredBackoffManager({ durationMs, jitter, clock, random })
  await backoffUntil(fn, manager, options)
}
