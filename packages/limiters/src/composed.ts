import { checkFunction, checkObject, checkPlan, type Limiter, type LimiterPlan } from '@sluice/core'

/** Asserts an object with the three methods of a limiter. */
export function checkLimiter<T>(parameter: string, limiter: Limiter<T>): Limiter<T> {
  checkObject(parameter, limiter)
  checkFunction(`${parameter}.when`, limiter.when)
  checkFunction(`${parameter}.forget`, limiter.forget)
  checkFunction(`${parameter}.numRequeues`, limiter.numRequeues)
  return limiter
}

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
