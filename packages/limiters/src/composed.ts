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
