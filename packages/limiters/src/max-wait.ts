import { checkLimiter, type Limiter, type PlannedLimiter } from '@sluice/core'
import { composedPlan, partDelay } from './composed.ts'
import { checkBound } from './duration.ts'

/**
 * Bounds the delays of another limiter by `maxMs`.
 *
 * The other limiter still counts and takes tokens; so a bucket whose waits are cut short lets
 * through more than its rate. `Infinity` is no bound.
 */
export function withMaxWait(limiter: PlannedLimiter, maxMs: number): PlannedLimiter
export function withMaxWait<T>(limiter: Limiter<T>, maxMs: number): Limiter<T>
export function withMaxWait<T>(limiter: Limiter<T>, maxMs: number): Limiter<T> {
  const part = checkLimiter('limiter', limiter)
  const bound = checkBound('maxMs', maxMs)
  const plan = composedPlan([part], ([of]) => ({ kind: 'maxWait', of: of!, maxMs: bound }))
  return {
    ...(plan && { plan }),
    when: (item) => Math.min(partDelay(part, item), bound),
    forget: (item) => part.forget(item),
    numRequeues: (item) => part.numRequeues(item),
  }
}
