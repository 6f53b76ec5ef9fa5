import type { Dedupe } from '../driver/outcomes.ts'
import type { WorkerRow } from '../driver/worker-row.ts'
import { parseJson } from '../keys/parse-json.ts'
import { checkPlan, type LimiterPlan } from './plan.ts'

/** The worker whose settings apply: of those that take keys, or else of all, the last seen. */
function lastSeen(workers: readonly WorkerRow[]): WorkerRow | undefined {
  const newestFirst = workers.toSorted((a, b) => b.seenAt - a.seenAt)
  return newestFirst.find(({ concurrency }) => concurrency > 0) ?? newestFirst[0]
}

/**
 * The plan of the limiter, as registered by the worker that was seen last; `undefined` if it has
 * registered none that this version knows.
 */
export function lastSeenPlan(workers: readonly WorkerRow[]): LimiterPlan | undefined {
  try {
    return checkPlan(parseJson(lastSeen(workers)?.settings['limiter'] as string))
  } catch {
    // None, or registered by another version, or not by this library: ignored.
    return undefined
  }
}

/** How the workers of the queue merge delayed runs; `undefined` if none of them says. */
export function lastSeenDedupe(workers: readonly WorkerRow[]): Dedupe | undefined {
  const dedupe = lastSeen(workers)?.settings['dedupe']
  return dedupe === 'client-go' || dedupe === 'earliest' ? dedupe : undefined
}
