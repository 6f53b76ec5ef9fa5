import type { Limiter, PlannedLimiter } from '@sluice/core'
import { checkLimiter, composedPlan } from './composed.ts'

/** The items that every one of several limiters takes. */
export type ItemOfAll<L extends Limiter<never>> = (
  L extends Limiter<infer T>
    ? (item: T) => void
    : never
) extends (item: infer T) => void
  ? T
  : never

/**
 * Waits for the slowest of several limiters.
 *
 * Every one of them is asked every time, so all of them count and every bucket gives a token, also
 * when another limiter decides. `forget` reaches all of them, `numRequeues` is the highest count.
 * Without any limiter nothing waits.
 *
 * If one of them has no plan, the whole has none and runs in this process.
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
    // Not a number stays not a number, so that a broken limiter is noticed.
    when: (item) => parts.reduce((ms, part) => Math.max(ms, part.when(item)), 0),
    forget: (item) => {
      for (const part of parts) part.forget(item)
    },
    numRequeues: (item) => parts.reduce((most, part) => Math.max(most, part.numRequeues(item)), 0),
  }
}
