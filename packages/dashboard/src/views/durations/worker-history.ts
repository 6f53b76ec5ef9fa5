import type { WorkerStats } from '@sluice/core'
import { addCounts } from './run-histogram.ts'

/** The window over which durations are counted, in milliseconds. */
const windowMs = 60_000

/** How much older than the window the first heartbeat may be, in milliseconds. */
const slackMs = 15_000

/** The durations of several workers' runs within the window. */
export interface RecentWork {
  wait: number[]
  work: number[]
  /** How many workers contributed. */
  workers: number
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

  /** Adds the recent work of this worker, if two heartbeats or a recent start allow that. */
  addTo(recent: RecentWork, now: number): void {
    const last = this.#heartbeats.at(-1)
    if (last === undefined) return
    const first = this.#heartbeats[0]
    const isYoung = this.#startedAt >= now - windowMs - slackMs
    const base = isYoung ? undefined : first
    if (base === last || last.at <= (base?.at ?? this.#startedAt)) return
    for (const name of ['wait', 'work'] as const) {
      addCounts(recent[name], last.stats[name])
      if (base !== undefined) addCounts(recent[name], base.stats[name], -1)
    }
    recent.workers += 1
  }
}
