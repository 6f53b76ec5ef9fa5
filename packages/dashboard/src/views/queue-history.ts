import { durationBoundsMs } from '@sluice/core'
import type { QueueCounts, WorkerRow } from 'sluice'
import type { Flow, Histogram, QueueRow } from '../wire.ts'
import { addCounts, histogramOf, quantilesOf } from './run-histogram.ts'
import { noRecentWork, type RecentWork, WorkerHistory, windowMs } from './worker-history.ts'

/** The interval between two samples of the history, and how many are kept: 5 minutes. */
export const sampling = { everyMs: 5_000, samples: 60 }

/** The minimum interval between two samples of the pending runs that gives a growth rate. */
const growthMsMin = 4_000

interface PendingRuns {
  readonly at: number
  /** `undefined` if the store stopped counting at its cap. */
  readonly runs: number | undefined
}

/** The figures of a queue that its counts do not contain. */
export interface Figures extends Pick<QueueRow, 'flow' | 'wait' | 'work' | 'history'> {
  readonly leasesLost: number
  readonly waitHistogram?: Histogram
  readonly workHistogram?: Histogram
}

function pendingRuns(counts: QueueCounts): number | undefined {
  if (counts.capped) return undefined
  const { ready, delayed, backoff, processing, dirty } = counts
  return ready + delayed + backoff + processing + 2 * dirty
}

function rounded(value: number): number {
  return Number(Math.max(0, value).toPrecision(3))
}

/** Rates and quantiles of one queue, which need several reads. */
export class QueueHistory {
  readonly #workers: Map<string, WorkerHistory> = new Map()
  #pending: PendingRuns[] = []
  #samples: (readonly [number, number])[] = []
  #sampledAt = -Infinity
  /** When the queue was last read. */
  seenAt: number = -Infinity

  /** Records a read. */
  record(at: number, counts: QueueCounts, workers: readonly WorkerRow[]): void {
    this.seenAt = at
    const gone = new Set(this.#workers.keys())
    for (const { holder, startedAt, seenAt, stats } of workers) {
      gone.delete(holder)
      if (stats === undefined) continue
      const track = this.#workers.get(holder) ?? new WorkerHistory(startedAt)
      this.#workers.set(holder, track)
      track.record(seenAt, stats)
    }
    for (const holder of gone) this.#workers.delete(holder)
    this.#pending.push({ at, runs: pendingRuns(counts) })
    while ((this.#pending[0]?.at ?? at) < at - windowMs) this.#pending.shift()
    if (at - this.#sampledAt >= sampling.everyMs) this.#sample(at)
  }

  #sample(at: number): void {
    // After a gap without reads, older samples would appear adjacent to new ones.
    if (at - this.#sampledAt > 3 * sampling.everyMs) this.#samples = []
    this.#sampledAt = at
    // The growth is unknown if counts are capped; arrivals are then taken to equal departures.
    const { outPerSecond = 0, inPerSecond = outPerSecond } = this.#flow(this.#doings(at), at)
    // An idle queue has no history, so that nothing is sent for it.
    if (this.#samples.length === 0 && inPerSecond === 0 && outPerSecond === 0) return
    this.#samples.push([inPerSecond, outPerSecond])
    if (this.#samples.length > sampling.samples) this.#samples.shift()
    if (this.#samples.every(([come, go]) => come === 0 && go === 0)) this.#samples = []
  }

  #doings(at: number): RecentWork {
    const doings = noRecentWork()
    for (const worker of this.#workers.values()) worker.addTo(doings, at)
    return doings
  }

  /** The growth of the pending runs per second. */
  #growth(at: number): number | undefined {
    const first = this.#pending[0]
    const last = this.#pending.at(-1)
    if (first?.runs === undefined || last?.runs === undefined) return undefined
    const ms = at - first.at
    return ms < growthMsMin ? undefined : ((last.runs - first.runs) / ms) * 1_000
  }

  #flow(doings: RecentWork, at: number): Flow {
    if (doings.workers === 0) return {}
    const { runsPerSecond: out, failedPerSecond, askedPerSecond, mergedPerSecond } = doings
    const growth = this.#growth(at)
    return {
      outPerSecond: rounded(out),
      ...(growth === undefined ? {} : { inPerSecond: rounded(out + growth) }),
      ...(out > 0 ? { errorRatio: rounded(failedPerSecond / out) } : {}),
      ...(askedPerSecond > 0 ? { mergedRatio: rounded(mergedPerSecond / askedPerSecond) } : {}),
    }
  }

  /** The figures as of now. */
  figures(at: number): Figures {
    const doings = this.#doings(at)
    // Before two heartbeats were seen, the totals since the workers' start are the best there is.
    const isKnown = doings.workers > 0
    const wait = isKnown ? doings.wait : this.#total('wait')
    const work = isKnown ? doings.work : this.#total('work')
    const optional = {
      wait: quantilesOf(durationBoundsMs, wait),
      work: quantilesOf(durationBoundsMs, work),
      waitHistogram: histogramOf(durationBoundsMs, wait),
      workHistogram: histogramOf(durationBoundsMs, work),
    }
    return {
      flow: this.#flow(doings, at),
      history: [...this.#samples],
      leasesLost: doings.leaseEnds,
      ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    }
  }

  #total(name: 'wait' | 'work'): number[] {
    const counts: number[] = []
    for (const { total } of this.#workers.values()) {
      if (total !== undefined) addCounts(counts, total[name])
    }
    return counts
  }
}
