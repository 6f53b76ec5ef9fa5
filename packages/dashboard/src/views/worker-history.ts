import type { WorkerStats } from '@sluice/core'
import { addCounts } from './run-histogram.ts'

/** The window over which rates are computed, in milliseconds. */
export const windowMs = 60_000

/** How much older than the window the first heartbeat of a rate may be, in milliseconds. */
const slackMs = 15_000

/** What several workers did within the window. */
export interface RecentWork {
  /** Runs that ended, and runs that failed, per second. */
  runsPerSecond: number
  failedPerSecond: number
  /** Adds, and merged adds, per second. */
  askedPerSecond: number
  mergedPerSecond: number
  leaseEnds: number
  wait: number[]
  work: number[]
  /** How many workers contributed. */
  workers: number
}

/** The sum over no workers. */
export function noRecentWork(): RecentWork {
  return {
    runsPerSecond: 0,
    failedPerSecond: 0,
    askedPerSecond: 0,
    mergedPerSecond: 0,
    leaseEnds: 0,
    wait: [],
    work: [],
    workers: 0,
  }
}

interface Heartbeat {
  readonly at: number
  readonly stats: WorkerStats
}

/** The heartbeats of one worker within the window. */
export class WorkerHistory {
  readonly #startedAt: number
  #heartbeats: Heartbeat[] = []

  constructor(startedAt: number) {
    this.#startedAt = startedAt
  }

  /** Records a heartbeat, unless it is already recorded. */
  record(at: number, stats: WorkerStats): void {
    const last = this.#heartbeats.at(-1)
    if (last !== undefined && last.at >= at) return
    this.#heartbeats.push({ at, stats })
    const from = at - windowMs - slackMs
    while ((this.#heartbeats[0]?.at ?? at) < from) this.#heartbeats.shift()
  }

  /** The totals of the worker since its start. */
  get total(): WorkerStats | undefined {
    return this.#heartbeats.at(-1)?.stats
  }

  /** Adds the recent work of this worker, if two heartbeats or a recent start allow a rate. */
  addTo(doings: RecentWork, now: number): void {
    const last = this.#heartbeats.at(-1)
    if (last === undefined) return
    const first = this.#heartbeats[0]
    const isYoung = this.#startedAt >= now - windowMs - slackMs
    const base = isYoung ? undefined : first
    const from = base?.at ?? this.#startedAt
    // The rates of a worker whose heartbeats have stopped decay.
    const until = now - last.at > slackMs ? now : last.at
    const seconds = (until - from) / 1_000
    if (seconds <= 0 || base === last) return
    const since = (count: (stats: WorkerStats) => number): number =>
      count(last.stats) - (base === undefined ? 0 : count(base.stats))
    doings.runsPerSecond += since(({ runs }) => runs) / seconds
    doings.failedPerSecond += since(({ failed }) => failed) / seconds
    doings.askedPerSecond += since(({ asked }) => asked) / seconds
    doings.mergedPerSecond += since(({ merged }) => merged) / seconds
    doings.leaseEnds += since(({ leaseEnds = 0 }) => leaseEnds)
    for (const name of ['wait', 'work'] as const) {
      addCounts(doings[name], last.stats[name])
      if (base !== undefined) addCounts(doings[name], base.stats[name], -1)
    }
    doings.workers += 1
  }
}
