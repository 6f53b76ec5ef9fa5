import {
  type Ask,
  type AskReply,
  bucketsOf,
  type EpochMs,
  type Finish,
  type FinishReply,
  perKeyDelay,
} from '@sluice/core'

/** The delay of an ask. Zero and less mean none. */
export function askDelayMs({ plan, delayMs }: Ask, { plannedMs }: AskReply): number {
  return plan === undefined ? delayMs : (plannedMs ?? 0)
}

/**
 * The delay of a retry by its limiter, as far as this process knows it.
 *
 * A limiter without a plan has returned it. A plan without buckets gives the same delay here as in
 * the store. The delay of a bucket is known to the store only: then it is computed from the due
 * time of the next run, or is unknown if an earlier run is pending.
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

/**
 * The delay of the run that a finish requests, for a key that is ready at once all the same: the reply has the
 * due time of the other run. 0: none, or that of a bucket, which only the store knows.
 */
export function secondRunMs(finish: Finish, reply: FinishReply, now: EpochMs): number {
  if (finish.as === 'done') return finish.again?.delayMs ?? 0
  if (finish.as !== 'retry') return 0
  const { plan } = finish
  if (plan !== undefined && bucketsOf(plan).length > 0) return 0
  return retryDelayMs(finish, reply, now)
}
