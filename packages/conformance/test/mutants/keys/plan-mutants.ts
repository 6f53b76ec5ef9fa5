import type { LimiterPlan } from '@sluice/core'
import type { Planned } from '../../../src/model/model-plan.ts'
import { type Mutant, ruleMutant, verbMutant } from '../mutant.ts'

/** A plan with `change` applied to each part. */
function rewritten(plan: LimiterPlan, change: (part: LimiterPlan) => LimiterPlan): LimiterPlan {
  const part = change(plan)
  if (part.kind === 'maxOf') return { ...part, of: part.of.map((each) => rewritten(each, change)) }
  if (part.kind === 'maxWait' || part.kind === 'jittered') {
    return { ...part, of: rewritten(part.of, change) }
  }
  return part
}

/** The model with plans that are misinterpreted. */
function planMutant(id: string, title: string, change: (part: LimiterPlan) => LimiterPlan): Mutant {
  return ruleMutant(id, title, (rules) => ({
    planned: (store, plan, ...rest) =>
      rules.planned(store, plan && rewritten(plan, change), ...rest),
    perKeyPart: (plan, ...rest) => rules.perKeyPart(plan && rewritten(plan, change), ...rest),
  }))
}

let processes = 0

/** Limiters and buckets, with one fault each. */
export const planMutants: readonly Mutant[] = [
  planMutant('plan-uncapped', 'an exponential plan has no maximum', (part) =>
    part.kind === 'exponential' ? { ...part, maxMs: 1e9 } : part,
  ),
  planMutant('plan-slow-at-once', 'a fast and slow plan is slow from the start', (part) =>
    part.kind === 'fastSlow' ? { ...part, maxFast: 0 } : part,
  ),
  planMutant('plan-wait-unbounded', 'a bounded plan is not bounded', (part) =>
    part.kind === 'maxWait' ? part.of : part,
  ),
  planMutant('plan-max-is-first', 'the first of several limiters decides', (part) =>
    part.kind === 'maxOf' ? { ...part, of: part.of.slice(0, 1) } : part,
  ),
  planMutant('bucket-infinite-is-none', 'a bucket without a rate never fills', (part) =>
    part.kind === 'bucket' && part.perSecond === 'infinite' ? { ...part, perSecond: 0 } : part,
  ),
  ruleMutant('plan-counts-this-failure', 'a plan sees one failure too many', (rules) => ({
    planned: (store, plan, failures, ...rest) => rules.planned(store, plan, failures + 1, ...rest),
  })),
  ruleMutant('plan-own-chance', 'the driver draws the random part of a plan itself', (rules) => ({
    planned: (store, plan, failures, _, now) => rules.planned(store, plan, failures, 0.25, now),
  })),
  ruleMutant('plan-sees-stale', 'expired failures lengthen a delay', () => ({
    countedFailures: (state) => state.failures,
  })),
  ruleMutant('plan-ignored-at-lease-end', 'after the end of a lease there is no back-off', () => ({
    perKeyPart: () => 0,
  })),
  verbMutant('plan-and-delay', 'the delay of an add is added to that of its plan', (driver) => ({
    add: (queue, asks, options) => {
      const isBoth = asks.some(({ plan, delayMs }) => plan !== undefined && delayMs > 0)
      if (!isBoth) return driver.add(queue, asks, options)
      return driver.add(
        queue,
        asks.map((ask) => ({ ...ask, plan: undefined })),
        options,
      )
    },
  })),
  verbMutant('plan-answered-without', 'every add is answered with a delay', (driver) => ({
    add(queue, asks, options) {
      return driver.add(queue, asks, options).map((reply) => ({ plannedMs: 0, ...reply }))
    },
  })),
  ruleMutant('bucket-free', 'no token is ever taken', (rules) => ({
    planned(...args) {
      const plan = rules.planned(...args)
      return plan && { ...plan, charge() {} }
    },
  })),
  ruleMutant('bucket-always-charged', 'a token is taken whatever the outcome', (rules) => ({
    planned(...args) {
      const plan = rules.planned(...args)
      plan?.charge()
      return plan && { ...plan, charge() {} }
    },
  })),
  planMutant('bucket-overflows', 'a bucket holds more than its burst', (part) =>
    part.kind === 'bucket' && part.burst > 1 ? { ...part, burst: part.burst + 1 } : part,
  ),
  verbMutant('bucket-per-batch', 'the adds of one batch are charged one token', (driver) => ({
    add(queue, asks, options) {
      const [first, ...rest] = asks
      if (first?.plan === undefined || rest.length === 0) return driver.add(queue, asks, options)
      const [reply] = driver.add(queue, [first], options)
      const { plannedMs: delayMs = 0 } = reply as { plannedMs?: number }
      const others = rest.map((ask) => ({ ...ask, plan: undefined, delayMs }))
      const replies = driver.add(queue, others, options)
      return [reply!, ...replies.map((each) => ({ ...each, plannedMs: delayMs }))]
    },
  })),
  verbMutant('bucket-per-queue', 'every queue has its own buckets', (driver) => ({
    add: (queue, asks, options) =>
      driver.add(
        queue,
        asks.map((ask) => ({ ...ask, plan: ask.plan && named(ask.plan, queue) })),
        options,
      ),
  })),
  verbMutant('bucket-per-process', 'every process has its own buckets', (driver) => {
    processes += 1
    const own = `process ${processes}`
    return {
      add: (queue, asks, options) =>
        driver.add(
          queue,
          asks.map((ask) => ({ ...ask, plan: ask.plan && named(ask.plan, own) })),
          options,
        ),
    }
  }),
  ruleMutant('bucket-never-is-now', 'a bucket that never fills delays nothing', (rules) => ({
    planned(...args): Planned | undefined {
      const plan = rules.planned(...args)
      return plan && plan.delayMs > 1e11 ? { ...plan, delayMs: 0 } : plan
    },
  })),
  verbMutant('bucket-retry-free', 'a retry takes no token', (driver, store) => ({
    finish(queue, finishes, options) {
      const before = new Map(store.buckets)
      const replies = driver.finish(queue, finishes, options)
      store.buckets = before
      return replies
    },
  })),
  verbMutant('buckets-not-listed', 'buckets are listed as full', (driver) => ({
    buckets: () => driver.buckets().map((row) => ({ ...row, tokens: row.burst })),
  })),
]

function named(plan: LimiterPlan, prefix: string): LimiterPlan {
  return rewritten(plan, (part) =>
    part.kind === 'bucket' ? { ...part, name: `${prefix}/${part.name}` } : part,
  )
}
