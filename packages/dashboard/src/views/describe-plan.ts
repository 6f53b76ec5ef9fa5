import { checkPlan, type LimiterPlan, parseJson } from '@sluice/core'
import { durationWords } from '@sluice/core/words'

/** Describes a limiter in words. */
export function describePlan(plan: LimiterPlan): string {
  switch (plan.kind) {
    case 'exponential':
      return `${durationWords(plan.baseMs)} doubled with each failure, at most ${durationWords(plan.maxMs)}`
    case 'fastSlow':
      return `${durationWords(plan.fastMs)} for the first ${plan.maxFast} failures, then ${durationWords(plan.slowMs)}`
    case 'bucket':
      return plan.perSecond === 'infinite'
        ? 'a bucket without a limit'
        : `bucket ${plan.name} of ${plan.burst} tokens, ${plan.perSecond} a second`
    case 'maxOf':
      return `the longest of: ${plan.of.map(describePlan).join('; ')}`
    case 'maxWait':
      return `${describePlan(plan.of)}; at most ${durationWords(plan.maxMs)}`
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
