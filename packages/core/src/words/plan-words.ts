import type { LimiterPlan } from '../limiter/plan.ts'
import { durationWords } from './duration-words.ts'

/** A limiter in words. */
export function planWords(plan: LimiterPlan): string {
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
      return `the longest of: ${plan.of.map(planWords).join('; ')}`
    case 'maxWait':
      return `${planWords(plan.of)}; at most ${durationWords(plan.maxMs)}`
    case 'jittered':
      return `${planWords(plan.of)}; plus up to ${Math.round(plan.factor * 100)} % jitter`
  }
}
