import { bucketsOf, type LimiterPlan, perKeyDelay } from '@sluice/core'
import type { KeyInfo, RetryArithmetic } from './inspect.ts'

/** How far two delays may be from each other and still be the same one: instants are rounded. */
const slackMs = 1

/** The greatest chance there is: the delay of a key lies between that without and that with it. */
const mostJitter: number = 1 - Number.EPSILON

/** A duration in words: `5 ms`, `1.28 s`. */
function inWords(ms: number): string {
  if (ms >= 1_000) return `${Number((ms / 1_000).toFixed(2))} s`
  return `${Number(ms >= 1 ? ms.toFixed(2) : ms.toPrecision(3))} ms`
}

/** How the failures of a key come to a delay: the part that is the longest. */
function workedOut(plan: LimiterPlan, failures: number): string {
  const total = inWords(perKeyDelay(plan, failures, 0))
  switch (plan.kind) {
    case 'exponential': {
      const product = `${inWords(plan.baseMs)} x 2^${failures}`
      return perKeyDelay({ ...plan, maxMs: Infinity }, failures, 0) > plan.maxMs
        ? `${product}, but no more than ${total}`
        : `${product} = ${total}`
    }
    case 'fastSlow':
      return failures < plan.maxFast
        ? `${total} after each of the first ${plan.maxFast} failures`
        : `${total} after every failure but the first ${plan.maxFast}`
    case 'bucket':
      return total
    case 'maxOf': {
      const ownMs = perKeyDelay(plan, failures, 0)
      const longest = plan.of.find((part) => perKeyDelay(part, failures, 0) === ownMs)
      return longest === undefined ? total : workedOut(longest, failures)
    }
    case 'maxWait': {
      const inner = workedOut(plan.of, failures)
      return perKeyDelay(plan.of, failures, 0) > plan.maxMs
        ? `${inner}, but no more than ${total}`
        : inner
    }
    case 'jittered':
      return `${workedOut(plan.of, failures)}, and up to ${Number((plan.factor * 100).toFixed(1))} % more by chance`
  }
}

function bucketWords(plan: LimiterPlan, ms: number): string {
  const [bucket, ...others] = bucketsOf(plan)
  const who =
    bucket === undefined || others.length > 0
      ? 'one of the buckets'
      : `the bucket ${JSON.stringify(bucket.name)}`
  return plan.kind === 'maxWait' && ms >= plan.maxMs - slackMs
    ? `${who} asked for more, of which ${inWords(plan.maxMs)} are waited`
    : `${who} asked for ${inWords(ms)}, which is more`
}

/** The arithmetic of a back-off that a key is in. */
function ofBackoff(info: KeyInfo, plan: LimiterPlan | undefined): RetryArithmetic | undefined {
  const { failures, dueAt, failedAt, crashes, lastError } = info
  if (dueAt === undefined || failedAt === undefined || failures === 0) return undefined
  // Since it failed; a vanished holder is noticed a while after its lease.
  const waitsMs = Math.max(0, dueAt - failedAt)
  if (Math.abs(waitsMs - (lastError?.retryAfterMs ?? Infinity)) <= slackMs) {
    return {
      failures,
      words: `${inWords(waitsMs)}, which the error of the run asked for by retryAfterMs`,
    }
  }
  if (plan === undefined) {
    return { failures, words: `${inWords(waitsMs)}, by a limiter that is not known here` }
  }
  const leastMs = perKeyDelay(plan, failures - 1, 0)
  const mostMs = perKeyDelay(plan, failures - 1, mostJitter)
  const words = workedOut(plan, failures - 1)
  if (waitsMs > mostMs + slackMs && bucketsOf(plan).length > 0) {
    return {
      failures,
      perKeyMs: leastMs,
      bucketMs: waitsMs,
      words: `${words}; ${bucketWords(plan, waitsMs)}`,
    }
  }
  if (waitsMs > mostMs + slackMs || (waitsMs < leastMs - slackMs && crashes === 0)) {
    return {
      failures,
      perKeyMs: leastMs,
      words: `${words}; it waits ${inWords(waitsMs)}, as was decided by another limiter, or before`,
    }
  }
  return { failures, perKeyMs: Math.min(Math.max(leastMs, waitsMs), mostMs), words }
}

/** How the delay of a key came about, or that of a held one would if its run failed now. */
export function retryArithmetic(
  info: KeyInfo,
  plan: LimiterPlan | undefined,
): RetryArithmetic | undefined {
  if (info.state === 'backoff') return ofBackoff(info, plan)
  if (info.held === undefined || plan === undefined) return undefined
  const { failures } = info
  return {
    failures,
    perKeyMs: perKeyDelay(plan, failures, 0),
    words: `if this run fails: ${workedOut(plan, failures)}`,
  }
}
