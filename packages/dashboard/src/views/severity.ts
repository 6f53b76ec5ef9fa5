import type { QueueCounts } from 'sluice'
import type { Flow, Severity } from '../wire.ts'

/** The age from which a ready key counts as waiting long. */
const longMs = 60_000

/** The error ratio, and the minimum run rate, from which a queue counts as failing. */
const failing = { ratio: 0.1, perSecond: 0.01 }

/** By how much arrivals must exceed departures, and how many keys must wait, to fall behind. */
const behind = { factor: 1.05, perSecond: 0.1, ready: 10 }

/** The inputs of an assessment. */
export interface Signs {
  readonly counts: QueueCounts
  readonly oldestMs: number | undefined
  /** `undefined` if the store keeps no list of workers. */
  readonly workers: number | undefined
  /** Leases that expired within the last minute. */
  readonly leasesLost: number
  readonly flow: Flow
}

/** All severities, worst first. */
export const severities: readonly Severity[] = [
  'no workers',
  'leases lost',
  'falling behind',
  'waiting long',
  'failing',
  'paused',
  'ok',
]

function many(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

function rate(perSecond: number): string {
  return perSecond >= 10 ? String(Math.round(perSecond)) : String(Number(perSecond.toPrecision(2)))
}

/** The severity of a queue, with the reason. Symptoms that a pause explains do not count. */
export function assess(signs: Signs): { readonly severity: Severity; readonly reason: string } {
  const { counts, oldestMs = 0, workers, leasesLost, flow } = signs
  const { outPerSecond = 0, inPerSecond = 0, errorRatio = 0 } = flow
  const held = counts.processing + counts.dirty
  const more = counts.capped ? 'or more ' : ''
  if (leasesLost > 0) {
    const reason = `${many(leasesLost, 'lease')} expired in the last minute: workers crash, hang or lose the store.`
    return { severity: 'leases lost', reason }
  }
  if (counts.paused) {
    const waiting = counts.ready === 0 ? 'nothing is ready' : `${counts.ready} ${more}are ready`
    return { severity: 'paused', reason: `Paused; ${waiting}.` }
  }
  // A held key has a worker, even if that worker is not on the list.
  if (workers === 0 && counts.ready > 0 && held === 0) {
    const reason = `${many(counts.ready, 'key')} ${more}${counts.ready === 1 ? 'is' : 'are'} ready, and no worker was seen in the last minute.`
    return { severity: 'no workers', reason }
  }
  const excess = inPerSecond - outPerSecond
  if (
    counts.ready >= behind.ready &&
    inPerSecond > outPerSecond * behind.factor &&
    excess > behind.perSecond
  ) {
    const reason = `${rate(excess)} more keys per second arrive than finish.`
    return { severity: 'falling behind', reason }
  }
  if (oldestMs >= longMs) {
    const reason = `A key has been ready for ${duration(oldestMs)}.`
    return { severity: 'waiting long', reason }
  }
  if (errorRatio >= failing.ratio && outPerSecond >= failing.perSecond) {
    const reason = `${Math.round(errorRatio * 100)} % of the runs of the last minute failed.`
    return { severity: 'failing', reason }
  }
  return { severity: 'ok', reason: okReason(signs, held) }
}

function okReason({ counts, workers }: Signs, held: number): string {
  if (counts.parked > 0) return `${many(counts.parked, 'key')} parked.`
  if (held > 0) return `Working on ${many(held, 'key')}.`
  if (counts.ready > 0) return `${many(counts.ready, 'key')} ready.`
  const later = counts.delayed + counts.backoff
  if (later > 0) {
    return workers === 0
      ? 'Nothing is ready yet, and no workers are online.'
      : 'Nothing is ready yet.'
  }
  return 'Nothing to do.'
}
