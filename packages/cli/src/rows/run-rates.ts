import { durationBoundsMs, type EpochMs, type WorkerRow, type WorkerStats } from '@sluice/core'
import { quantile } from '@sluice/core/words'

/** The window of the rates, in milliseconds: a few heartbeats. */
const windowMs = 60_000

/** How much older than the window the first heartbeat may be, in milliseconds, if there are others. */
const slackMs = 15_000

/** The recent work of a queue's workers. */
export interface Rates {
  /** Runs that ended, per second. */
  readonly runsPerSecond: number
  /** Of these, the share that failed; absent if there were none. */
  readonly failedRatio?: number
  /** The 95th percentile of the time that keys were ready before they ran. */
  readonly waitP95Ms?: number
  /** The 95th percentile of run durations. */
  readonly workP95Ms?: number
  /** Running handlers, and the total concurrency. */
  readonly busy: number
  readonly slots: number
}

interface Beat {
  readonly at: EpochMs
  readonly stats: WorkerStats
}

function add(into: number[], counts: readonly number[], sign: 1 | -1): void {
  for (const [index, count] of counts.entries()) into[index] = (into[index] ?? 0) + sign * count
}

/**
 * Computes rates from the totals in workers' heartbeats. For a worker that is seen for the first
 * time, its totals since its start are used.
 */
export class RunRates {
  readonly #beats = new Map<string, ReadonlyMap<string, Beat[]>>()

  /** Records the workers of a queue and returns their work of the last minute. */
  of(queue: string, workers: readonly WorkerRow[]): Rates | undefined {
    const sums = { runs: 0, failed: 0, perSecond: 0, busy: 0, slots: 0 }
    const wait: number[] = []
    const work: number[] = []
    const before = this.#beats.get(queue)
    // Nothing is kept of workers that are gone: a screen may be watched for weeks.
    const beats = new Map<string, Beat[]>()
    this.#beats.set(queue, beats)
    if (workers.every(({ stats }) => stats === undefined)) return undefined
    for (const worker of workers) {
      const { stats } = worker
      sums.slots += worker.concurrency
      if (stats === undefined) continue
      const own = before?.get(worker.holder) ?? []
      beats.set(worker.holder, own)
      const base = baseOf(own, worker.seenAt, stats)
      const runs = stats.runs - (base?.stats.runs ?? 0)
      const seconds = (worker.seenAt - (base?.at ?? worker.startedAt)) / 1_000
      sums.busy += stats.busy
      sums.runs += runs
      sums.failed += stats.failed - (base?.stats.failed ?? 0)
      if (seconds > 0) sums.perSecond += runs / seconds
      for (const [into, name] of [
        [wait, 'wait'],
        [work, 'work'],
      ] as const) {
        add(into, stats[name], 1)
        if (base !== undefined) add(into, base.stats[name], -1)
      }
    }
    const waitP95Ms = quantile(durationBoundsMs, wait, 0.95)
    const workP95Ms = quantile(durationBoundsMs, work, 0.95)
    return {
      runsPerSecond: Number(sums.perSecond.toPrecision(3)),
      ...(sums.runs === 0 ? {} : { failedRatio: Number((sums.failed / sums.runs).toPrecision(3)) }),
      ...(waitP95Ms === undefined ? {} : { waitP95Ms }),
      ...(workP95Ms === undefined ? {} : { workP95Ms }),
      busy: sums.busy,
      slots: sums.slots,
    }
  }
}

/** Whether a rate need not go back to the first heartbeat, or not so far: nothing was read after it for long. */
function isPast([first, second]: readonly Beat[], at: EpochMs): boolean {
  return (second?.at ?? at) <= at - windowMs || (first?.at ?? at) < at - windowMs - slackMs
}

/** Records a heartbeat; returns the one that a rate starts from, `undefined` for a new worker. */
function baseOf(beats: Beat[], at: EpochMs, stats: WorkerStats): Beat | undefined {
  if ((beats.at(-1)?.at ?? -Infinity) < at) beats.push({ at, stats })
  while (beats.length > 2 && isPast(beats, at)) beats.shift()
  return beats.length > 1 ? beats[0] : undefined
}
