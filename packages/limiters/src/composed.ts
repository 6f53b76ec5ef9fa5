import { checkPlan, type Limiter, type LimiterPlan } from '@sluice/core'

/**
 * The plan of a combined limiter: it has one only if all its parts have one, because a part without
 * a plan runs in this process and a store cannot call it.
 */
export function composedPlan<T>(
  limiters: readonly Limiter<T>[],
  compose: (plans: readonly LimiterPlan[]) => LimiterPlan,
): LimiterPlan | undefined {
  const plans = limiters.flatMap(({ plan }) => (plan === undefined ? [] : [plan]))
  return plans.length < limiters.length ? undefined : checkPlan(compose(plans))
}

/**
 * The delay of a part; NaN if it gives none, so that a broken limiter is noticed. A promise is no number, and
 * its rejection must not end the process.
 */
export function partDelay<T>(part: Limiter<T>, item: T): number {
  const ms: unknown = part.when(item)
  if (typeof ms === 'number') return ms
  Promise.resolve(ms).catch(() => undefined)
  return Number.NaN
}
