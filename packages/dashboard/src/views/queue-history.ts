import { durationBoundsMs } from '@sluice/core'
import type { QueueCounts, WorkerRow } from 'sluice'
import { addCounts, histogramOf, quantilesOf } from './run-histogram.ts'
import type { Flow, Histogram, QueueRow } from '../wire.ts'
import { type Doings, noDoings, WorkerTrack, windowMs } from './worker-history.ts'

/** How far apart samples of the history are, in milliseconds, and how many there are: 5 minutes. */
export const history = { everyMs: 5_000, samples: 60 }

/** How far apart two samples of how much is owed must be to tell how it grows, in milliseconds. */
const growthMsMin = 4_000

interface Owed {
  readonly at: number
  /** `undefined` if there is more than was counted. */
  readonly runs: number | undefined
}

/** What the figures of a queue say beside its counts. */
export interface Figures extends Pick<QueueRow, 'flow' | 'wait' | 'work' | 'history'> {
  readonly leasesLost: number
  readonly waitHistogram?: Histogram
  readonly workHistogram?: Histogram
}

function owedRuns(counts: QueueCounts): number | undefined {
  if (counts.capped) return undefined
  const { ready, delayed, backoff, processing, dirty } = counts
  return ready + delayed + backoff + processing + 2 * dirty
}

function rounded(value: number): number {
  return Number(Math.max(0, value).toPrecision(3))
}

/** What was seen of one queue while somebody looked: what a single look cannot tell. */
export class QueueTrack {
  readonly #workers: Map<string, WorkerTrack> = new Map()
  #owed: Owed[] = []
  #history: (readonly [number, number])[] = []
  #sampledAt = -Infinity
  /** When the queue was looked at last. */
  seenAt: number = -Infinity

  /** Takes note of a look. */
  see(at: number, counts: QueueCounts, workers: readonly WorkerRow[]): void {
    this.seenAt = at
    const gone = new Set(this.#workers.keys())
    for (const { holder, startedAt, seenAt, stats } of workers) {
      gone.delete(holder)
      if (stats === undefined) continue
      const track = this.#workers.get(holder) ?? new WorkerTrack(startedAt)
      this.#workers.set(holder, track)
      track.see(seenAt, stats)
    }
    for (const holder of gone) this.#workers.delete(holder)
    this.#owed.push({ at, runs: owedRuns(counts) })
    while ((this.#owed[0]?.at ?? at) < at - windowMs) this.#owed.shift()
    if (at - this.#sampledAt >= history.everyMs) this.#sample(at)
  }

  #sample(at: number): void {
    // Nobody looked for a while: what was before does not stand right beside what is now.
    if (at - this.#sampledAt > 3 * history.everyMs) this.#history = []
    this.#sampledAt = at
    // How a queue grows is not known where there is more than is counted: then as much comes as goes.
    const { outPerSecond = 0, inPerSecond = outPerSecond } = this.#flow(this.#doings(at), at)
    // A queue that does nothing has no history, which costs nothing to send.
    if (this.#history.length === 0 && inPerSecond === 0 && outPerSecond === 0) return
    this.#history.push([inPerSecond, outPerSecond])
    if (this.#history.length > history.samples) this.#history.shift()
    if (this.#history.every(([come, go]) => come === 0 && go === 0)) this.#history = []
  }

  #doings(at: number): Doings {
    const doings = noDoings()
    for (const worker of this.#workers.values()) worker.addTo(doings, at)
    return doings
  }

  /** How much is owed more than a while ago, a second. */
  #growth(at: number): number | undefined {
    const first = this.#owed[0]
    const last = this.#owed.at(-1)
    if (first?.runs === undefined || last?.runs === undefined) return undefined
    const ms = at - first.at
    return ms < growthMsMin ? undefined : ((last.runs - first.runs) / ms) * 1_000
  }

  #flow(doings: Doings, at: number): Flow {
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

  /** What can be said by now. */
  figures(at: number): Figures {
    const doings = this.#doings(at)
    // Until two heartbeats were seen, what workers counted since they began says more than nothing.
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
      history: [...this.#history],
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
