import { durationBoundsMs, type EpochMs, type WorkerRow } from '@sluice/core'
import type { Estimate, KeyInfo } from './inspect.ts'

/** Fewer runs than this predict nothing. */
const runsMin = 20

/** So many runs say enough about how long one takes on the average. */
const runsEnough = 200

/** The data of an estimate. */
export interface Flow {
  readonly now: EpochMs
  /** How many keys are ready, and how many are held. */
  readonly ready: number
  readonly held: number
  /** True if there are more than were counted. */
  readonly isCapped: boolean
  /** The workers that take keys. */
  readonly workers: readonly WorkerRow[]
  /** How many handlers they run at a time, together. */
  readonly slots: number
}

/** The average duration of a run, as far as the counts show it. */
function meanWork(workers: readonly WorkerRow[]): { readonly ms: number; readonly runs: number } {
  let runs = 0
  let sum = 0
  for (const { stats } of workers) {
    stats?.work.forEach((count, at) => {
      const bound = durationBoundsMs[Math.min(at, durationBoundsMs.length - 1)] as number
      runs += count
      // The middle between this bound and the one before it.
      sum += count * bound * 0.75
    })
  }
  return { ms: runs === 0 ? 0 : sum / runs, runs }
}

/** When a key will be taken, if there is enough data to estimate it. */
export function estimate({ state, dueAt }: KeyInfo, flow: Flow): Estimate | undefined {
  const { now, ready, held, isCapped, workers, slots } = flow
  const isReady = state === 'ready'
  if (slots === 0 || isCapped || dueAt === undefined) return undefined
  if (!isReady && state !== 'delayed' && state !== 'backoff') return undefined
  const ahead = isReady ? Math.max(0, ready - 1) : ready
  const free = slots - held
  if (ahead < free)
    return { startAt: Math.max(now, dueAt), confidence: isReady ? 'high' : 'medium' }
  const { ms, runs } = meanWork(workers)
  if (runs < runsMin) return undefined
  const startAt = now + ((ahead - Math.max(0, free) + 1) * ms) / slots
  return {
    startAt: Math.max(dueAt, startAt),
    confidence: isReady && runs >= runsEnough ? 'medium' : 'low',
  }
}
