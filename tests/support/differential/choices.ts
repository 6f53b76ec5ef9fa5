import type { Chance } from '@sluice/conformance'
import {
  type Dedupe,
  type ExpireOptions,
  type Finish,
  itemBytesMax,
  type LimiterPlan,
} from '@sluice/core'
import type { BothSides, PairedClaim } from './both-sides.ts'

/** How many keys a queue can have. */
const keysMax = 1_500

/** Batches of every size that a driver may be given. */
export const sizes = [1, 2, 5, 30, 130, 300, 600, 1_000]

export function keysOf(chance: Chance): string[] {
  const size = chance.pick(sizes)
  const keys = new Set<string>()
  // A run of neighbours, or keys from everywhere.
  const first = chance.happens(0.5) ? chance.below(keysMax) : undefined
  while (keys.size < size) {
    const at = first === undefined ? chance.below(keysMax) : (first + keys.size) % keysMax
    keys.add(`key/${at}`)
  }
  return [...keys]
}

export function dedupeOf(chance: Chance): Dedupe {
  return chance.happens(0.3) ? 'earliest' : 'client-go'
}

export function delayOf(chance: Chance): number {
  return chance.pick([0, 0, 0, 0, -5, 0.5, 1, 5, 10, 50, 1_000, 86_400_000])
}

export function planOf(sides: BothSides, queue: string, chance: Chance): LimiterPlan | undefined {
  const doubling: LimiterPlan = { kind: 'exponential', baseMs: 5, maxMs: 100 }
  const bucket: LimiterPlan = {
    kind: 'bucket',
    name: sides.bucketOf(queue),
    perSecond: 1_000,
    burst: 50,
  }
  const both: LimiterPlan = { kind: 'maxOf', of: [doubling, bucket] }
  const jittered: LimiterPlan = { kind: 'jittered', of: both, factor: 0.5 }
  return chance.pick([undefined, undefined, undefined, doubling, bucket, both, jittered])
}

export function itemOf(chance: Chance, index: number): string | undefined {
  // One long item in a batch is enough; the longest are as long as an item may be.
  if (index === 0 && chance.happens(0.05)) {
    const length = chance.pick([70_000, 200_001, itemBytesMax - 2])
    return JSON.stringify('x'.repeat(length))
  }
  return chance.pick([undefined, '1', '"two"', '{"three":3}', '"🚰"'])
}

/** Claims of a queue, mostly late ones and often all; each key once. */
export function pick(sides: BothSides, queue: string, chance: Chance): PairedClaim[] {
  const own = sides.claims.filter((each) => each.queue === queue)
  const size = chance.pick(sizes)
  const recent = chance.happens(0.8) ? own.slice(-size) : own
  const found = new Map<string, PairedClaim>()
  while (recent.length > 0 && found.size < size) {
    const [each] = recent.splice(chance.below(recent.length), 1)
    if (each !== undefined && !found.has(each.key)) found.set(each.key, each)
  }
  return [...found.values()]
}

export function finishOf(
  key: string,
  token: number,
  sides: BothSides,
  queue: string,
  chance: Chance,
): Finish {
  const as = chance.pick(['done', 'done', 'done', 'retry', 'retry', 'release', 'park'] as const)
  const again = chance.happens(0.2) ? { delayMs: delayOf(chance), priority: 1 } : undefined
  if (as === 'done') return { as, key, token, forget: chance.happens(0.5), again }
  if (as === 'release') return { as, key, token }
  if (as === 'park') return { as, key, token, error: chance.pick([undefined, 'why']) }
  const plan = planOf(sides, queue, chance)
  const priority = chance.pick([undefined, undefined, 0, 1_000])
  const error = chance.pick([undefined, 'why', 'because'])
  return { as, key, token, delayMs: delayOf(chance), priority, plan, jitter: chance.next(), error }
}

export function expireOptions(sides: BothSides, queue: string, chance: Chance): ExpireOptions {
  const maxCrashes = chance.pick([2, 100])
  return {
    dedupe: dedupeOf(chance),
    maxCrashes,
    plan: planOf(sides, queue, chance),
    jitter: chance.next(),
    error: chance.pick([undefined, 'lost']),
  }
}

/** The trace context of an add, if it has one. */
export function traceOf(chance: Chance): string | undefined {
  if (chance.happens(0.7)) return undefined
  const digit = chance.pick(['1', '2', '3'])
  return `00-${digit.repeat(32)}-${digit.repeat(16)}-01`
}
