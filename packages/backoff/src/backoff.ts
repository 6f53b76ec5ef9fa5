import {
  type Clock,
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  clampNs,
  msOfNs,
  nsOfMs,
} from '@sluice/core'
import { checkCap, checkDuration } from './duration.ts'
import { jittered } from './jitter.ts'
import { defaultRandom, type Random } from './random.ts'

/** Options of a {@link Backoff}. */
export interface BackoffOptions {
  /** The first delay, in milliseconds. It is not capped. */
  readonly durationMs: number
  /** Each delay is this many times the one before. 0, the default, keeps it and ignores the cap. */
  readonly factor?: number | undefined
  /**
   * A random part of up to `jitter` times the delay is added to each returned delay, also beyond
   * the cap, but not to the delay from which the next one is computed. Zero, the default, and less
   * mean none.
   */
  readonly jitter?: number | undefined
  /**
   * How often the delay grows, and how often a loop such as `exponentialBackoff` tries. Below 1 the
   * delay does not grow. A whole number, or `Infinity`; 0 by default.
   */
  readonly steps?: number | undefined
  /** The longest delay it grows to. 0, the default, and `Infinity` mean ten years. */
  readonly capMs?: number | undefined
  /**
   * Whether growing beyond `capMs` uses up all steps that are left, so that a loop ends there. True
   * by default, as in the original; set it to false to continue at the cap until the steps are used
   * up.
   */
  readonly endsAtCap?: boolean | undefined
  /** The source of randomness: numbers from 0 to below 1. Default: that of the runtime. */
  readonly random?: Random | undefined
}

/** Returns the next delay, in milliseconds, on each call. */
export type DelayFn = () => number

const members = ['durationMs', 'factor', 'jitter', 'steps', 'capMs', 'endsAtCap', 'random']

function checkSteps(parameter: string, steps: unknown): number {
  return steps === Infinity ? Infinity : checkNumber(parameter, steps, { integer: true })
}

/**
 * Delays that grow from step to step, in whole nanoseconds.
 *
 * Stepping uses it up. To start over, create another one, or use {@link Backoff.copy}, {@link
 * Backoff.delayFn} and {@link Backoff.delayWithReset}, which do not change this one.
 */
export class Backoff {
  readonly factor: number
  readonly jitter: number
  /** 0 means none. */
  readonly capMs: number
  readonly endsAtCap: boolean
  readonly #random: Random
  #durationNs: number
  #steps: number

  constructor(options: BackoffOptions) {
    const {
      durationMs,
      factor = 0,
      jitter = 0,
      steps = 0,
      capMs = 0,
      endsAtCap = true,
      random = defaultRandom,
    } = checkObject('options', options, members)
    this.#durationNs = nsOfMs(checkDuration('durationMs', durationMs))
    this.factor = checkNumber('factor', factor, { min: 0 })
    this.jitter = checkNumber('jitter', jitter)
    this.#steps = checkSteps('steps', steps)
    this.capMs = checkCap('capMs', capMs)
    this.endsAtCap = checkBoolean('endsAtCap', endsAtCap)
    this.#random = checkFunction('random', random)
  }

  /** The delay of the next step, without jitter. */
  get durationMs(): number {
    return msOfNs(this.#durationNs)
  }

  /** How many steps are left. */
  get steps(): number {
    return this.#steps
  }

  /** The delay of this step, in milliseconds. The next one is longer while steps are left. */
  step(): number {
    const { durationMs } = this
    if (this.#steps < 1) this.#steps = 0
    else {
      this.#steps -= 1
      if (this.factor !== 0) this.#grow()
    }
    return jittered(durationMs, this.jitter, this.#random)
  }

  #grow(): void {
    const next = Math.trunc(this.#durationNs * this.factor)
    const capNs = nsOfMs(this.capMs)
    const isCapped = capNs > 0 && next > capNs
    this.#durationNs = isCapped ? capNs : clampNs(next)
    if (isCapped && this.endsAtCap) this.#steps = 0
  }

  /** A copy that continues from here independently. */
  copy(): Backoff {
    const { durationMs, factor, jitter, steps, capMs, endsAtCap } = this
    const random = this.#random
    return new Backoff({ durationMs, factor, jitter, steps, capMs, endsAtCap, random })
  }

  /** A function that steps through a copy. */
  delayFn(): DelayFn {
    const own = this.copy()
    return () => own.step()
  }

  /**
   * A function that steps through a copy, and starts over when more than `resetMs` have passed
   * since its creation or its last start, regardless of the calls in between.
   *
   * Without a factor nothing grows, so there is nothing to reset. With `resetMs` 0 it never grows.
   */
  delayWithReset(clock: Clock, resetMs: number): DelayFn {
    checkObject('clock', clock)
    checkDuration('resetMs', resetMs)
    const start = this.copy()
    if (resetMs === 0) start.#steps = 0
    let own = start.copy()
    let startedMs = clock.monotonicMs()
    return () => {
      const nowMs = clock.monotonicMs()
      if (nowMs - startedMs > resetMs) {
        own = start.copy()
        startedMs = nowMs
      }
      return own.step()
    }
  }
}
