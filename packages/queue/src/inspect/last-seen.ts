import { checkPlan, type Dedupe, type LimiterPlan, parseJson, type WorkerRow } from '@sluice/core'

/** The worker whose settings apply: of those that take keys, or else of all, the last seen. */
function lastSeen(workers: readonly WorkerRow[]): WorkerRow | undefined {
  const taking = workers.filter(({ concurrency }) => concurrency > 0)
  let last: WorkerRow | undefined
  for (const worker of taking.length > 0 ? taking : workers) {
    if (last === undefined || worker.seenAt > last.seenAt) last = worker
  }
  return last
}

/** The plan of the limiter, as registered by the worker that was seen last. */
export function lastSeenPlan(workers: readonly WorkerRow[]): LimiterPlan | undefined {
  const text = lastSeen(workers)?.settings['limiter']
  if (typeof text !== 'string') return undefined
  try {
    return checkPlan(parseJson(text), 'settings.limiter')
  } catch {
    // Not written by this package: ignored.
    return undefined
  }
}

/** How the workers of the queue merge delayed runs; `undefined` if none of them says. */
export function lastSeenDedupe(workers: readonly WorkerRow[]): Dedupe | undefined {
  const dedupe = lastSeen(workers)?.settings['dedupe']
  return dedupe === 'client-go' || dedupe === 'earliest' ? dedupe : undefined
}
