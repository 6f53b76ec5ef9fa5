import { checkFunction, checkObject, checkPlan, type Limiter, type LimiterPlan } from '@sluice/core'

/** Holds for an object with the three methods of a limiter. */
export function checkLimiter<T>(parameter: string, limiter: Limiter<T>): Limiter<T> {
  checkObject(parameter, limiter)
  checkFunction(`${parameter}.when`, limiter.when)
  checkFunction(`${parameter}.forget`, limiter.forget)
  checkFunction(`${parameter}.numRequeues`, limiter.numRequeues)
  return limiter
}

/**
 * The plan of a limiter made of others: there is one only if all of them have one, because the
 * others run in this process and cannot be asked by a store.
 */
export function composedPlan<T>(
  limiters: readonly Limiter<T>[],
  compose: (plans: readonly LimiterPlan[]) => LimiterPlan,
): LimiterPlan | undefined {
  const plans = limiters.flatMap(({ plan }) => (plan === undefined ? [] : [plan]))
  return plans.length < limiters.length ? undefined : checkPlan(compose(plans))
}
