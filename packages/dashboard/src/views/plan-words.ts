import { checkPlan, type LimiterPlan, parseJson } from '@sluice/core'

function duration(ms: number): string {
  if (ms < 1_000) return `${Number(ms.toPrecision(3))} ms`
  const seconds = ms / 1_000
  if (seconds < 120) return `${Number(seconds.toPrecision(3))} s`
  return `${Number((seconds / 60).toPrecision(3))} min`
}

/** A limiter in words. */
export function planWords(plan: LimiterPlan): string {
  switch (plan.kind) {
    case 'exponential':
      return `${duration(plan.baseMs)} doubled with each failure, at most ${duration(plan.maxMs)}`
    case 'fastSlow':
      return `${duration(plan.fastMs)} for the first ${plan.maxFast} failures, then ${duration(plan.slowMs)}`
    case 'bucket':
      return plan.perSecond === 'infinite'
        ? 'a bucket that never runs out'
        : `bucket ${plan.name} of ${plan.burst} tokens, ${plan.perSecond} a second`
    case 'maxOf':
      return `the longest of: ${plan.of.map(planWords).join('; ')}`
    case 'maxWait':
      return `${planWords(plan.of)}; never more than ${duration(plan.maxMs)}`
    case 'jittered':
      return `${planWords(plan.of)}; longer by up to ${Math.round(plan.factor * 100)} % by chance`
  }
}

/** The plan that a worker tells of; `undefined` if it tells of none that can be read. */
export function toldPlan(setting: unknown): LimiterPlan | undefined {
  if (typeof setting !== 'string') return undefined
  try {
    return checkPlan(parseJson(setting))
  } catch {
    // Another version of a worker may follow what is not known here.
    return undefined
  }
}
