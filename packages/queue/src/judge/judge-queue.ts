// This folder judges queues: their state, its reason, and since when it lasts.

import { type EpochMs, heartbeatMs, type WorkerRow } from '@sluice/core'
import { atLeastWords, durationWords, manyWords, rateWords } from '@sluice/core/words'
import type { QueueCounts, QueueHistory } from '../inspect/inspect.ts'
import { isCapped, readAnswer, type WorkRates, workRates } from './work-rates.ts'

/** The state of a queue in one or two words, worst first in {@link severities}. */
export type Severity =
  | 'no workers'
  | 'leases lost'
  | 'falling behind'
  | 'waiting long'
  | 'failing'
  | 'parked'
  | 'paused'
  | 'ok'

/** All severities, worst first. */
export const severities: readonly Severity[] = [
  'no workers',
  'leases lost',
  'falling behind',
  'waiting long',
  'failing',
  'parked',
  'paused',
  'ok',
]

/** How urgent each severity is: broken now, needs attention, meant so, or fine. */
export const urgencies = {
  'no workers': 'bad',
  'leases lost': 'bad',
  'falling behind': 'warn',
  'waiting long': 'warn',
  failing: 'warn',
  parked: 'warn',
  paused: 'calm',
  ok: 'good',
} as const

/** The thresholds of severities. */
export const thresholds = {
  /** The age from which a ready key counts as waiting long. */
  waitingLongMs: 60_000,
  /** The share of failed runs from which a queue counts as failing. */
  errorRatio: 0.1,
} as const

/** The least rate of runs at which a share of them means something. */
const perSecondMin = 0.01

/** By how much arrivals must exceed departures, and how many keys must wait, to fall behind. */
const behind = { factor: 1.05, perSecond: 0.1, ready: 10, agingPerSecond: 500 }

/** After how many heartbeats without one a worker counts as gone. */
const heartbeatsMissed = 2.5

/** The facts by which a queue is judged. */
export interface QueueSigns {
  readonly now: EpochMs
  readonly counts: QueueCounts
  /** `undefined` if the store keeps no list of workers. */
  readonly workers: readonly WorkerRow[] | undefined
  /** In steps of ten seconds; `undefined` if the store keeps none. */
  readonly history: QueueHistory | undefined
}

/** The judgement of a queue, and the figures it is based on. */
export interface QueueJudgement {
  readonly severity: Severity
  /** The reason, as one short sentence. */
  readonly reason: string
  readonly rates: WorkRates
  /** Workers that take keys, and how many they run at a time; gone ones are not counted. */
  readonly workers: number
  readonly slots: number
  /** Workers that took keys and have not been seen for several heartbeats. */
  readonly gone: number
  /** The age of the key that has been ready longest; absent if none is ready. */
  readonly oldestMs?: number
}

/** Whether a worker has missed so many heartbeats that it takes no keys any more. */
export function isGone(worker: WorkerRow, now: EpochMs): boolean {
  return readAnswer('worker', () => now - worker.seenAt > heartbeatsMissed * heartbeatMs)
}

/**
 * Judges a queue: what page, command line and alerts say of it. Symptoms that a pause explains do
 * not count.
 */
export function judgeQueue(signs: QueueSigns): QueueJudgement {
  return readAnswer('signs', () => judgement(signs))
}

function judgement(signs: QueueSigns): QueueJudgement {
  const { now, counts, workers, history } = signs
  const taking = (workers ?? []).filter(({ concurrency }) => concurrency > 0)
  const live = taking.filter((worker) => !isGone(worker, now))
  const rates = history === undefined ? {} : workRates(history)
  const { oldestReadyAt } = counts
  const figures: Figures = {
    counts,
    rates,
    workers: workers === undefined ? undefined : live.length,
    oldestMs: oldestReadyAt === undefined ? undefined : Math.max(0, now - oldestReadyAt),
    held: counts.processing + counts.dirty,
    isHeldByNone: counts.heldUntil !== undefined && counts.heldUntil <= now,
  }
  const found = troubleOf(figures)
  return {
    severity: found?.[0] ?? 'ok',
    reason: found?.[1] ?? calmReason(figures),
    rates,
    workers: live.length,
    slots: live.reduce((sum, { concurrency }) => sum + concurrency, 0),
    gone: taking.length - live.length,
    ...(figures.oldestMs === undefined ? {} : { oldestMs: figures.oldestMs }),
  }
}

interface Figures {
  readonly counts: QueueCounts
  readonly rates: WorkRates
  readonly workers: number | undefined
  readonly oldestMs: number | undefined
  readonly held: number
  /** Whether the leases of all held keys have expired. */
  readonly isHeldByNone: boolean
}

type Found = readonly [Severity, string]

function keysWord(count: number, counts: QueueCounts): string {
  const shown = atLeastWords(count, isCapped(count, counts))
  return `${shown} ${count === 1 ? 'key' : 'keys'}`
}

function troubleOf(figures: Figures): Found | undefined {
  const { counts, rates, workers, oldestMs = 0, held, isHeldByNone } = figures
  const { leasesExpired = 0, errorRatio = 0 } = rates
  const ready = keysWord(counts.ready, counts)
  // A key that is held under a lease has a worker, even if that worker is not on the list.
  if (workers === 0 && !counts.paused && (held === 0 ? counts.ready > 0 : isHeldByNone)) {
    const lost = held === 0 ? [] : [`${keysWord(held, counts)} held under expired leases`]
    const waiting = [...(counts.ready === 0 ? [] : [`${ready} ready`]), ...lost]
    return ['no workers', `${waiting.join(', ')}, and no worker is online.`]
  }
  if (leasesExpired > 0) {
    const lost = manyWords(leasesExpired, 'lease')
    const reason = `${lost} expired in the last minute: workers crash, hang or lose the store.`
    return ['leases lost', reason]
  }
  if (counts.paused) {
    return ['paused', counts.ready === 0 ? 'Paused; no key is ready.' : `Paused; ${ready} ready.`]
  }
  if (isBehind(counts.ready, rates)) return ['falling behind', behindReason(figures)]
  if (oldestMs >= thresholds.waitingLongMs) {
    // In whole minutes, so that the reason does not change every second.
    const minutes = durationWords(Math.floor(oldestMs / 60_000) * 60_000)
    const cause = workers === 0 ? ', and no worker is online' : ''
    return ['waiting long', `A key has been ready for ${minutes}${cause}.`]
  }
  if (isFailing(rates)) {
    return ['failing', `${Math.round(errorRatio * 100)} % of the runs of the last minute failed.`]
  }
  if (counts.parked > 0) {
    const are = counts.parked === 1 ? 'is' : 'are'
    return [
      'parked',
      `${keysWord(counts.parked, counts)} ${are} parked and will not run until unparked.`,
    ]
  }
  return undefined
}

/** Whether too many of the runs failed. */
export function isFailing({ errorRatio = 0, outPerSecond = 0 }: WorkRates): boolean {
  return errorRatio >= thresholds.errorRatio && outPerSecond >= perSecondMin
}

/** Whether keys arrive faster than they are worked on. */
export function isBehind(ready: number, rates: WorkRates): boolean {
  const { inPerSecond, outPerSecond = 0, agingPerSecond = 0 } = rates
  if (ready < behind.ready) return false
  // More keys than are counted: the queue falls behind if its oldest key grows older.
  if (inPerSecond === undefined) return agingPerSecond > behind.agingPerSecond
  const excess = inPerSecond - outPerSecond
  return inPerSecond > outPerSecond * behind.factor && excess > behind.perSecond
}

function behindReason({ counts, rates }: Figures): string {
  const { inPerSecond, outPerSecond = 0 } = rates
  if (inPerSecond === undefined) {
    return `${keysWord(counts.ready, counts)} ready, and the oldest waits longer and longer.`
  }
  return `${rateWords(inPerSecond - outPerSecond)} more keys per second arrive than finish.`
}

function calmReason({ counts, workers, held }: Figures): string {
  if (held > 0) return `Running ${keysWord(held, counts)}.`
  if (counts.ready > 0) return `${keysWord(counts.ready, counts)} ready.`
  if (counts.delayed + counts.backoff > 0) {
    return workers === 0 ? 'No key is ready yet, and no worker is online.' : 'No key is ready yet.'
  }
  return 'Nothing to do.'
}
