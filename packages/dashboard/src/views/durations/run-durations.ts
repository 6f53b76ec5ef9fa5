// This folder computes how long runs waited and took, from the totals that workers report.

import { durationBoundsMs } from '@sluice/core'
import type { WorkerRow } from 'sluice'
import type { Histogram, Quantiles } from '../../wire.ts'
import { addCounts, histogramOf, quantilesOf } from './run-histogram.ts'
import { type RecentWork, WorkerHistory } from './worker-history.ts'

/** How long keys waited and runs took; `undefined` where nothing was seen. */
export interface Durations {
  readonly wait: Quantiles | undefined
  readonly work: Quantiles | undefined
  readonly waitHistogram: Histogram | undefined
  readonly workHistogram: Histogram | undefined
}

/** The durations of one queue's runs in the last minute, which need several reads. */
export class RunDurations {
  readonly #workers: Map<string, WorkerHistory> = new Map()
  /** When the queue was last read. */
  seenAt: number = -Infinity

  /** Records a read. */
  record(at: number, workers: readonly WorkerRow[]): void {
    this.seenAt = at
    const gone = new Set(this.#workers.keys())
    for (const { holder, startedAt, seenAt, stats } of workers) {
      gone.delete(holder)
      if (stats === undefined) continue
      const history = this.#workers.get(holder) ?? new WorkerHistory(startedAt)
      this.#workers.set(holder, history)
      history.record(seenAt, stats)
    }
    for (const holder of gone) this.#workers.delete(holder)
  }

  /** The durations as of now. */
  figures(at: number): Durations {
    const recent: RecentWork = { wait: [], work: [], workers: 0 }
    for (const worker of this.#workers.values()) worker.addTo(recent, at)
    // Before two heartbeats were seen, the totals since the workers' start are the best there is.
    const wait = recent.workers > 0 ? recent.wait : this.#total('wait')
    const work = recent.workers > 0 ? recent.work : this.#total('work')
    return {
      wait: quantilesOf(durationBoundsMs, wait),
      work: quantilesOf(durationBoundsMs, work),
      waitHistogram: histogramOf(durationBoundsMs, wait),
      workHistogram: histogramOf(durationBoundsMs, work),
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
