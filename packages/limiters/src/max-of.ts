import { checkLimiter, type Limiter, type PlannedLimiter } from '@sluice/core'
import { composedPlan, partDelay } from './composed.ts'

/** The items that all of several limiters accept. */
export type ItemOfAll<L extends Limiter<never>> = (
  L extends Limiter<infer T>
    ? (item: T) => void
    : never
) extends (item: infer T) => void
  ? T
  : never

/**
 * Combines several limiters: the longest delay counts.
 *
 * Each of them is called every time, so all of them count and a token is taken from every bucket,
 * even if another limiter decides. `forget` is called on all of them, `numRequeues` is the highest
 * count. Without any limiter there is no delay.
 *
 * If one of them has no plan, the combined limiter has none and runs in this process.
 */
export function maxOf(...limiters: PlannedLimiter[]): PlannedLimiter
export function maxOf<L extends readonly Limiter<never>[]>(
  ...limiters: L
): Limiter<ItemOfAll<L[number]>>
export function maxOf<T>(...limiters: Limiter<T>[]): Limiter<T> {
  const parts = limiters.map((limiter, index) => checkLimiter(`limiters[${index}]`, limiter))
  const plan = composedPlan(parts, (of) => ({ kind: 'maxOf', of }))
  return {
    ...(plan && { plan }),
    when: (item) => parts.reduce((ms, part) => Math.max(ms, partDelay(part, item)), 0),
    forget: (item) => {
      for (const part of parts) part.forget(item)
    },
    numRequeues: (item) => parts.reduce((most, part) => Math.max(most, part.numRequeues(item)), 0),
  }
}
