import fc from 'fast-check'
import { expect, test } from 'vitest'
import { msOfNs, nsOfMs } from '../src/limiter/nanoseconds.ts'
import {
  bucketsOf,
  checkPlan,
  type LimiterPlan,
  perKeyDelay,
  planDelay,
} from '../src/limiter/plan.ts'
import { delayMsMax, failuresMax } from '../src/limits.ts'

const durations = fc.oneof(
  fc.constantFrom(0, 1e-6, 1.024e-3, 1, 5, 1e6, delayMsMax),
  fc.double({ min: 0, max: 1e9, noNaN: true }),
)

const factors = fc.oneof(
  fc.constantFrom(0, 0.1, 1, 1e300),
  fc.double({ min: 0, max: 5, noNaN: true }),
)

const { plan: plans } = fc.letrec<{ plan: LimiterPlan }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({
      kind: fc.constant('exponential' as const),
      baseMs: durations,
      maxMs: durations,
    }),
    fc.record({
      kind: fc.constant('fastSlow' as const),
      fastMs: durations,
      slowMs: durations,
      maxFast: fc.nat(),
    }),
    fc
      .constantFrom<[string, number | 'infinite', number]>(
        ['a', 10, 100],
        ['b', 0, 1],
        ['c', 'infinite', 0],
        ['', 3, 0],
      )
      .map(([name, perSecond, burst]) => ({ kind: 'bucket' as const, name, perSecond, burst })),
    fc.record({ kind: fc.constant('maxOf' as const), of: fc.array(tie('plan'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('maxWait' as const), of: tie('plan'), maxMs: durations }),
    fc.record({ kind: fc.constant('jittered' as const), of: tie('plan'), factor: factors }),
  ),
}))

const failureCounts = fc.oneof(fc.nat(70), fc.constantFrom(1_023, 1_024, 1_025, failuresMax))
const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const bucketDelays = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', ''), fc.oneof(durations, fc.constant(Infinity)))
  .map((delays) => new Map(Object.entries(delays)))

test('a delay is from 0 to ten years in whole nanoseconds, never NaN', () => {
  fc.assert(
    fc.property(plans, failureCounts, bucketDelays, chances, (plan, failures, delays, chance) => {
      const ms = planDelay(checkPlan(plan), failures, delays, chance)
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThanOrEqual(delayMsMax)
      expect(msOfNs(nsOfMs(ms))).toBe(ms)
    }),
    { numRuns: 500 },
  )
})

test('a plan means the same after a journey through JSON', () => {
  fc.assert(
    fc.property(plans, failureCounts, bucketDelays, chances, (plan, failures, delays, chance) => {
      const travelled: LimiterPlan = checkPlan(JSON.parse(JSON.stringify(plan)))
      expect(planDelay(travelled, failures, delays, chance)).toBe(
        planDelay(plan, failures, delays, chance),
      )
    }),
  )
})

test('waiting longer for a bucket never makes the delay shorter', () => {
  fc.assert(
    fc.property(plans, failureCounts, durations, durations, chances, (plan, n, a, b, chance) => {
      const all = (ms: number) => new Map(bucketsOf(plan).map(({ name }) => [name, ms]))
      expect(planDelay(plan, n, all(Math.max(a, b)), chance)).toBeGreaterThanOrEqual(
        planDelay(plan, n, all(Math.min(a, b)), chance),
      )
    }),
  )
})

test('more failures never make an exponential delay shorter, nor longer than its maximum', () => {
  fc.assert(
    fc.property(durations, durations, failureCounts, (baseMs, maxMs, failures) => {
      const plan: LimiterPlan = { kind: 'exponential', baseMs, maxMs }
      const ms = perKeyDelay(plan, failures, 0)
      expect(perKeyDelay(plan, failures + 1, 0)).toBeGreaterThanOrEqual(ms)
      expect(ms).toBeLessThanOrEqual(maxMs)
    }),
  )
})

test('nothing waits longer than its maxWait, nor shorter than a part of maxOf', () => {
  fc.assert(
    fc.property(plans, durations, failureCounts, bucketDelays, (plan, maxMs, failures, delays) => {
      const bounded: LimiterPlan = { kind: 'maxWait', of: plan, maxMs }
      expect(planDelay(bounded, failures, delays, 0)).toBeLessThanOrEqual(maxMs)
      const slower: LimiterPlan = { kind: 'maxOf', of: [bounded, plan] }
      expect(planDelay(slower, failures, delays, 0)).toBe(planDelay(plan, failures, delays, 0))
    }),
  )
})

test('jitter only adds, and less than factor times the delay', () => {
  fc.assert(
    fc.property(durations, factors, chances, (fastMs, factor, chance) => {
      const of: LimiterPlan = { kind: 'fastSlow', fastMs, slowMs: 0, maxFast: 1 }
      const ms = perKeyDelay(of, 0, 0)
      const jittered = perKeyDelay({ kind: 'jittered', of, factor }, 0, chance)
      expect(jittered).toBeGreaterThanOrEqual(ms)
      expect(jittered).toBeLessThanOrEqual(Math.min(delayMsMax, ms + factor * ms))
    }),
  )
})
