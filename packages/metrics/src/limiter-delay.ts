import {
  type Ask,
  type AskReply,
  bucketsOf,
  type EpochMs,
  type Finish,
  type FinishReply,
  perKeyDelay,
} from '@sluice/core'

/** How long an ask was put off. Below zero and zero mean not at all. */
export function askDelayMs({ plan, delayMs }: Ask, { plannedMs }: AskReply): number {
  return plan === undefined ? delayMs : (plannedMs ?? 0)
}

/**
 * How long a limiter made a retry wait, as far as can be told from here.
 *
 * A limiter without a plan has said so. A plan without buckets gives the same delay here as in the
 * store. What a bucket added only the store knows: then it is read off the time at which the next
 * run is due, or is unknown if an earlier promise stands in front of it.
 */
export function retryDelayMs(
  { plan, delayMs, jitter = 0 }: Extract<Finish, { as: 'retry' }>,
  { outcome, dueAt, failures }: FinishReply,
  now: EpochMs,
): number {
  if (plan === undefined) return Math.max(0, delayMs)
  const byKey = perKeyDelay(plan, Math.max(0, failures - 1), jitter)
  if (outcome !== 'delayed' || bucketsOf(plan).length === 0) return byKey
  return Math.max(byKey, dueAt - now)
}
