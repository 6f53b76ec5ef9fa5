import { type HistoryStep, SluiceTypeError } from '@sluice/core'
import type { QueueCounts, QueueHistory } from '../inspect/inspect.ts'

/** The window of rates, in milliseconds: several heartbeats. */
const windowMs = 60_000

/** How old the latest step of a history may be for rates to be known, in milliseconds. */
const staleMs = 30_000

/** The rates of a queue in the last minute. Members are absent until they are known. */
export interface WorkRates {
  /** Runs that ended, well or not, per second. */
  readonly outPerSecond?: number
  /**
   * Runs that became pending, per second: those that ended and the growth of the queue. Absent if
   * there are more keys than are counted.
   */
  readonly inPerSecond?: number
  /** Of the runs that ended, how many failed: 0 to 1. */
  readonly errorRatio?: number
  /** Of the adds of processes with workers, how many were merged into a pending run: 0 to 1. */
  readonly mergedRatio?: number
  /** Leases that expired. */
  readonly leasesExpired?: number
  /** By how many milliseconds per second the key that is ready longest has grown older. */
  readonly agingPerSecond?: number
}

function rounded(value: number): number {
  return Number(Math.max(0, value).toPrecision(3))
}

function pending({ ready, delayed, held }: HistoryStep['depth']): number {
  return ready + delayed + held
}

/** The rates of the last minute, from the history in steps of ten seconds. */
export function workRates({ now, stepMs, steps }: QueueHistory): WorkRates {
  const recent = steps.filter(({ at }) => at + stepMs <= now && at >= now - windowMs - stepMs)
  const first = recent[0]
  const last = recent.at(-1)
  if (first === undefined || last === undefined || now - last.at > staleMs) return {}
  const sum = (name: 'done' | 'failed' | 'added' | 'merged' | 'expired'): number =>
    recent.reduce((total, step) => total + step[name], 0)
  const seconds = (recent.length * stepMs) / 1_000
  const ended = sum('done') + sum('failed')
  const out = ended / seconds
  const adds = sum('added') + sum('merged')
  const apart = (last.at - first.at) / 1_000
  const isCapped = recent.some(({ depth }) => depth.capped)
  return {
    outPerSecond: rounded(out),
    leasesExpired: sum('expired'),
    ...(ended > 0 ? { errorRatio: rounded(sum('failed') / ended) } : {}),
    ...(adds > 0 ? { mergedRatio: rounded(sum('merged') / adds) } : {}),
    ...(apart > 0 && !isCapped
      ? { inPerSecond: rounded(out + (pending(last.depth) - pending(first.depth)) / apart) }
      : {}),
    ...(apart > 0 ? { agingPerSecond: (last.depth.oldestMs - first.depth.oldestMs) / apart } : {}),
  }
}

/** Whether a count stopped at the cap: all states have the same, so only the greatest can. */
export function isCapped(count: number, counts: QueueCounts): boolean {
  return readAnswer('counts', () => {
    const { ready, delayed, backoff, processing, dirty, parked, idle, capped } = counts
    return capped && count >= Math.max(ready, delayed, backoff, processing, dirty, parked, idle)
  })
}

/** Reads an answer of `inspect` that a caller has handed in; refuses anything else with a typed error. */
export function readAnswer<T>(parameter: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new SluiceTypeError(parameter, 'must be an answer of inspect', { cause })
  }
}
