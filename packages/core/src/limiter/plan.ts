/**
 * A limiter as plain JSON, so that the store can evaluate it where the failures are counted and the
 * buckets are stored, in the step that writes.
 *
 * | kind          | the delay, for a key with `failures` before this one                       |
 * | ------------- | -------------------------------------------------------------------------- |
 * | `exponential` | `baseMs` * 2 ^ failures, at most `maxMs`                                   |
 * | `fastSlow`    | `fastMs` for the first `maxFast` failures, then `slowMs`                   |
 * | `bucket`      | how long the next token of the bucket of that name takes                   |
 * | `maxOf`       | the longest of its parts; 0 without any                                    |
 * | `maxWait`     | that of its part, at most `maxMs`                                          |
 * | `jittered`    | that of its part, longer by a random share of up to `factor` times itself  |
 *
 * All of it in whole nanoseconds, and between 0 and ten years.
 *
 * JSON has no infinity: a bucket that never runs out has `perSecond: 'infinite'`, and ten years,
 * the longest delay, stand for no maximum.
 *
 * **Names of buckets.** All plans of a store that contain a name share its bucket. The name `''`
 * stands for the queue's own bucket: two queues with a default limiter each must not slow each
 * other down by accident, and a limiter does not know its queue when it is created. The queue
 * replaces the name with {@link nameOwnBucket} before a driver sees the plan: it becomes `queue:`
 * and the queue's name, shared by all processes that work on that queue, and by other queues only
 * if their plans contain that name.
 *
 * Every plan contains the rates of its buckets; the store has the tokens only. Processes that
 * disagree about the rate of a bucket, as during a roll-out, each charge it at their own rate.
 */

import { checkNumber, checkObject, checkOneOf } from '../checks/check.ts'
import { SluiceRangeError, SluiceTypeError } from '../errors.ts'
import { checkQueueName } from '../keys/key.ts'
import { delayMsMax, planPartsMax } from '../limits.ts'
import type { BucketRate } from './bucket.ts'
import { clampNs, jitteredNs, msOfNs, nsOfMs } from './nanoseconds.ts'

/** Twice as long after each failure. */
export interface ExponentialPlan {
  readonly kind: 'exponential'
  readonly baseMs: number
  readonly maxMs: number
}

/** One delay for the first failures, another one after them. */
export interface FastSlowPlan {
  readonly kind: 'fastSlow'
  readonly fastMs: number
  readonly slowMs: number
  readonly maxFast: number
}

/** A token bucket, shared by all plans that contain its name. */
export interface BucketPlan {
  readonly kind: 'bucket'
  /** `''` is the queue's own; see the top of this file. */
  readonly name: string
  readonly perSecond: number | 'infinite'
  readonly burst: number
}

/** The longest delay of several. */
export interface MaxOfPlan {
  readonly kind: 'maxOf'
  readonly of: readonly LimiterPlan[]
}

/** A delay with an upper bound. */
export interface MaxWaitPlan {
  readonly kind: 'maxWait'
  readonly of: LimiterPlan
  readonly maxMs: number
}

/** A delay made longer at random, so that keys that fail together are not retried together. */
export interface JitteredPlan {
  readonly kind: 'jittered'
  readonly of: LimiterPlan
  readonly factor: number
}

/** A limiter as plain JSON. */
export type LimiterPlan =
  | ExponentialPlan
  | FastSlowPlan
  | BucketPlan
  | MaxOfPlan
  | MaxWaitPlan
  | JitteredPlan

/** A bucket that a plan charges. Its rate is finite: an infinite one needs no bookkeeping. */
export interface PlanBucket extends BucketRate {
  readonly name: string
}

const membersOfKind: Readonly<Record<LimiterPlan['kind'], readonly string[]>> = {
  exponential: ['kind', 'baseMs', 'maxMs'],
  fastSlow: ['kind', 'fastMs', 'slowMs', 'maxFast'],
  bucket: ['kind', 'name', 'perSecond', 'burst'],
  maxOf: ['kind', 'of'],
  maxWait: ['kind', 'of', 'maxMs'],
  jittered: ['kind', 'of', 'factor'],
}

const kinds = Object.keys(membersOfKind) as LimiterPlan['kind'][]

const durationLimits = { min: 0, max: delayMsMax }

/** The limits of a plan as a whole, collected while its parts are checked. */
interface PlanLimits {
  partsLeft: number
  readonly buckets: Map<string, BucketPlan>
}

/**
 * Accepts a plan that every store can evaluate: numbers within their limits, at most
 * {@link planPartsMax} parts, and no name that stands for two buckets of different rates.
 */
export function checkPlan(plan: unknown, parameter: string = 'plan'): LimiterPlan {
  return checkPart(parameter, plan, { partsLeft: planPartsMax, buckets: new Map() })
}

function checkPart(parameter: string, given: unknown, limits: PlanLimits): LimiterPlan {
  limits.partsLeft -= 1
  if (limits.partsLeft < 0) {
    throw new SluiceRangeError(
      parameter,
      `is one part too many; a plan has at most ${planPartsMax}`,
    )
  }
  const plan = checkObject(parameter, given) as LimiterPlan
  checkOneOf(`${parameter}.kind`, plan.kind, kinds)
  checkObject(parameter, plan, membersOfKind[plan.kind])
  switch (plan.kind) {
    case 'exponential':
      checkNumber(`${parameter}.baseMs`, plan.baseMs, durationLimits)
      checkNumber(`${parameter}.maxMs`, plan.maxMs, durationLimits)
      break
    case 'fastSlow':
      checkNumber(`${parameter}.fastMs`, plan.fastMs, durationLimits)
      checkNumber(`${parameter}.slowMs`, plan.slowMs, durationLimits)
      checkNumber(`${parameter}.maxFast`, plan.maxFast, { min: 0, integer: true })
      break
    case 'bucket':
      checkBucket(parameter, plan, limits)
      break
    case 'maxOf':
      if (!Array.isArray(plan.of)) {
        throw new SluiceTypeError(`${parameter}.of`, 'must be an array of plans')
      }
      plan.of.forEach((part, index) => {
        checkPart(`${parameter}.of[${index}]`, part, limits)
      })
      break
    case 'maxWait':
      checkNumber(`${parameter}.maxMs`, plan.maxMs, durationLimits)
      checkPart(`${parameter}.of`, plan.of, limits)
      break
    case 'jittered':
      checkNumber(`${parameter}.factor`, plan.factor, { min: 0 })
      checkPart(`${parameter}.of`, plan.of, limits)
      break
    default:
      plan satisfies never
  }
  return plan
}

function checkBucket(parameter: string, plan: BucketPlan, { buckets }: PlanLimits): void {
  const { name, perSecond, burst } = plan
  checkQueueName(`${parameter}.name`, name, { empty: true })
  if (perSecond !== 'infinite') checkNumber(`${parameter}.perSecond`, perSecond, { min: 0 })
  checkNumber(`${parameter}.burst`, burst, { min: 0, integer: true })
  const twin = buckets.get(name)
  if (twin !== undefined && (twin.perSecond !== perSecond || twin.burst !== burst)) {
    throw new SluiceRangeError(
      `${parameter}.name`,
      `must not be that of another bucket with a different rate; ${
        name === '' ? 'give each bucket a name' : `'${name}' stands for two`
      }`,
    )
  }
  buckets.set(name, plan)
}

/**
 * The buckets that a plan charges, each once, in the order of their names, which is the order in
 * which to lock them. One token of each is taken with `reserveToken`, and the delays are passed to
 * {@link planDelay}; `TokenBuckets` of `@sluice/core/driver` does both.
 */
export function bucketsOf(plan: LimiterPlan): readonly PlanBucket[] {
  const found = new Map<string, PlanBucket>()
  gatherBuckets(plan, found)
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function gatherBuckets(plan: LimiterPlan, found: Map<string, PlanBucket>): void {
  switch (plan.kind) {
    case 'bucket': {
      const { name, perSecond, burst } = plan
      if (perSecond !== 'infinite') found.set(name, { name, perSecond, burst })
      return
    }
    case 'maxOf':
      for (const part of plan.of) gatherBuckets(part, found)
      return
    case 'maxWait':
    case 'jittered':
      gatherBuckets(plan.of, found)
      return
    case 'exponential':
    case 'fastSlow':
      return
    default:
      plan satisfies never
  }
}

/** The plan with the bucket `''` named as the own bucket of the queue `queueName`. */
export function nameOwnBucket(plan: LimiterPlan, queueName: string): LimiterPlan {
  switch (plan.kind) {
    case 'bucket':
      return plan.name === '' ? { ...plan, name: `queue:${queueName}` } : plan
    case 'maxOf':
      return { ...plan, of: plan.of.map((part) => nameOwnBucket(part, queueName)) }
    case 'maxWait':
    case 'jittered':
      return { ...plan, of: nameOwnBucket(plan.of, queueName) }
    case 'exponential':
    case 'fastSlow':
      return plan
  }
}

/**
 * The delay that `plan` gives to a key which failed `failures` times before this one, in
 * milliseconds: whole nanoseconds, from 0 to ten years, never `NaN`.
 *
 * `bucketDelays` has the delay of each bucket by name; a bucket without one delays nothing.
 * `jitter` is a random number from 0 to below 1 that the caller draws.
 */
export function planDelay(
  plan: LimiterPlan,
  failures: number,
  bucketDelays: ReadonlyMap<string, number>,
  jitter: number,
): number {
  return msOfNs(clampNs(delayNs(plan, failures, bucketDelays, jitter)))
}

const noDelays: ReadonlyMap<string, number> = new Map()

/** {@link planDelay} as if no bucket delayed anything, for a key whose lease has expired. */
export function perKeyDelay(plan: LimiterPlan, failures: number, jitter: number): number {
  return planDelay(plan, failures, noDelays, jitter)
}

function delayNs(
  plan: LimiterPlan,
  failures: number,
  bucketDelays: ReadonlyMap<string, number>,
  jitter: number,
): number {
  switch (plan.kind) {
    case 'exponential':
      return exponentialNs(plan, failures)
    case 'fastSlow':
      return nsOfMs(failures < plan.maxFast ? plan.fastMs : plan.slowMs)
    case 'bucket':
      return clampNs(nsOfMs(bucketDelays.get(plan.name) ?? 0))
    case 'maxOf': {
      let longest = 0
      for (const part of plan.of) {
        longest = Math.max(longest, delayNs(part, failures, bucketDelays, jitter))
      }
      return longest
    }
    case 'maxWait':
      return Math.min(delayNs(plan.of, failures, bucketDelays, jitter), nsOfMs(plan.maxMs))
    case 'jittered':
      return jitteredNs(delayNs(plan.of, failures, bucketDelays, jitter), plan.factor, jitter)
  }
}

function exponentialNs({ baseMs, maxMs }: ExponentialPlan, failures: number): number {
  return Math.min(nsOfMs(baseMs) * doublings(failures), nsOfMs(maxMs))
}

/** 2 to the power of `count`, up to where one nanosecond is more than ten years. */
function doublings(count: number): number {
  // A shift takes a tenth of the time of a power, and every failure of every key comes here.
  if (count < 31) return 1 << count
  return 2 ** Math.min(count, 60)
}
