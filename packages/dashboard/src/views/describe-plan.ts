import { checkPlan, type LimiterPlan, parseJson } from '@sluice/core'

function duration(ms: number): string {
  if (ms < 1_000) return `${Number(ms.toPrecision(3))} ms`
  const seconds = ms / 1_000
  if (seconds < 120) return `${Number(seconds.toPrecision(3))} s`
  return `${Number((seconds / 60).toPrecision(3))} min`
}

/** Describes a limiter in words. */
export function describePlan(plan: LimiterPlan): string {
  switch (plan.kind) {
    case 'exponential':
      return `${duration(plan.baseMs)} doubled with each failure, at most ${duration(plan.maxMs)}`
    case 'fastSlow':
      return `${duration(plan.fastMs)} for the first ${plan.maxFast} failures, then ${duration(plan.slowMs)}`
    case 'bucket':
      return plan.perSecond === 'infinite'
        ? 'a bucket without a limit'
        : `bucket ${plan.name} of ${plan.burst} tokens, ${plan.perSecond} a second`
    case 'maxOf':
      return `the longest of: ${plan.of.map(describePlan).join('; ')}`
    case 'maxWait':
      return `${describePlan(plan.of)}; at most ${duration(plan.maxMs)}`
    case 'jittered':
      return `${describePlan(plan.of)}; plus up to ${Math.round(plan.factor * 100)} % jitter`
  }
}

/** Parses the limiter plan that a worker reports; `undefined` if it reports none this version knows. */
export function parsePlan(setting: unknown): LimiterPlan | undefined {
  if (typeof setting !== 'string') return undefined
  try {
    return checkPlan(parseJson(setting))
  } catch {
    // A worker of another version may report a plan that this version does not know.
    return undefined
  }
}
