import type { Limiter } from '@sluice/core'
import { defaultRetryPlan } from '../core/retry-plans.ts'
import { random } from '../environment/random.ts'
import type { HeldPolicy } from '../held/held-key.ts'
import { LimiterInQueue } from './limiter-in-queue.ts'

/**
 * What the layers without a limiter do with their Helds: one that is left unfinished is released,
 * and one that is retried comes back by a back-off of its own, so that no failing key spins.
 */
export function releasing<T>(limiter: Limiter<T> | undefined, name: string): HeldPolicy {
  if (limiter === undefined) {
    return {
      disposeAs: 'release',
      retryAs: () => ({ delayMs: 0, plan: defaultRetryPlan, jitter: random() }),
    }
  }
  const inQueue = new LimiterInQueue(limiter, name, () => undefined)
  return { disposeAs: 'release', retryAs: (held) => inQueue.delayOf(held.item as T) }
}
