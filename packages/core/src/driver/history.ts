import type { EpochMs } from '../time/clock.ts'
import { never } from '../transitions/key-state.ts'
import { addCodes, type CodeCounts } from './code-counts.ts'
import type { Counts } from './inspection.ts'

/** How long the steps of a history are, and how many of them are kept. */
export interface HistoryResolution {
  /** A multiple of that of the resolution before it. */
  readonly stepMs: number
  readonly steps: number
}

/**
 * The resolutions of every history: the last 5 minutes, the last hour and the last day. Each keeps
 * one step more than its time has, because the first and the last step are seldom whole.
 */
export const historyResolutions: readonly HistoryResolution[] = [
  { stepMs: 10_000, steps: 31 },
  { stepMs: 60_000, steps: 61 },
  { stepMs: 600_000, steps: 145 },
]

/** Up to how many keys of a state are counted for a history. */
export const historyDepthCap = 10_000

/** How many failed runs of a queue are kept, and how many of them with the same code. */
export const failedRunsMax = 60
export const failedRunsOfCodeMax = 20

/** How long failed runs are kept, in milliseconds: a day. */
export const failedRunsMsMax: number = 24 * 60 * 60 * 1_000

/** Counts of the work that was done during some time. */
export interface WorkCounts {
  /** Handlers that began. */
  readonly started: number
  /** Runs that ended without an error. */
  readonly done: number
  /** Runs that failed. */
  readonly failed: number
  /** Adds that made a run pending, or moved one, and all adds to parked keys. */
  readonly added: number
  /** Adds that were merged into a pending run. */
  readonly merged: number
  /** Expired leases that were ended. */
  readonly expired: number
}

/** How many keys were in a queue at one moment. */
export interface Depth {
  readonly ready: number
  /** Delayed, and in back-off. */
  readonly delayed: number
  readonly held: number
  readonly parked: number
  /** For how long the key that had been ready longest had been so; 0 if none was. */
  readonly oldestMs: number
  /** True if counting stopped at {@link historyDepthCap}: the counts are lower bounds then. */
  readonly capped: boolean
  /** Whether the queue was paused. */
  readonly paused: boolean
}

/** One step of a history. A step during which no worker recorded anything is missing. */
export interface HistoryStep extends WorkCounts {
  /** When the step began: a multiple of its length. */
  readonly at: EpochMs
  /** As counted by the first record of the latest 10 seconds in which there was one. */
  readonly depth: Depth
  readonly codes: CodeCounts
}

/** One failed run. */
export interface FailedRun {
  /** When it failed, by the store's time as far as its worker knew it. */
  readonly at: EpochMs
  readonly key: string
  /** The code of the error, or its name. */
  readonly code: string
  /** The holder of the key. */
  readonly holder: string
  /** How many runs of the key had failed before. */
  readonly failures: number
  /** The error, in the form in which `KeyRow.lastError` has it. */
  readonly lastError: string
}

/** The work of the workers on one queue object since their last record. */
export interface WorkRecord extends WorkCounts {
  readonly codes: CodeCounts
  /** Some of the failed runs, oldest first. */
  readonly failedRuns: readonly FailedRun[]
}

/** A part of the history of a queue. */
export interface HistoryReply {
  /** The store's time. */
  readonly now: EpochMs
  /** Oldest first. */
  readonly steps: readonly HistoryStep[]
}

/** The depth of a queue whose keys were counted at `now`, up to {@link historyDepthCap}. */
export function depthOf(counts: Counts, now: EpochMs): Depth {
  const { ready, delayed, backoff, processing, dirty, parked, capped, paused, oldestReadyAt } =
    counts
  const oldestMs = oldestReadyAt === never ? 0 : Math.max(0, now - oldestReadyAt)
  return {
    ready,
    delayed: delayed + backoff,
    held: processing + dirty,
    parked,
    oldestMs,
    capped,
    paused,
  }
}

/** The step that begins at `at` after a record; `before` is the step as it was, if there was one. */
function addToStep(
  before: HistoryStep | undefined,
  at: EpochMs,
  record: WorkRecord,
  depth: Depth,
): HistoryStep {
  const sum = (name: keyof WorkCounts): number => (before?.[name] ?? 0) + record[name]
  return {
    at,
    started: sum('started'),
    done: sum('done'),
    failed: sum('failed'),
    added: sum('added'),
    merged: sum('merged'),
    expired: sum('expired'),
    depth,
    codes: addCodes(before?.codes ?? [], record.codes),
  }
}

/** When the step that `now` is in began. */
export function stepStart(now: EpochMs, stepMs: number): EpochMs {
  return Math.floor(now / stepMs) * stepMs
}

/** The instant at and before which the steps of a resolution are not kept any more. */
export function stepsGoneAt(now: EpochMs, { stepMs, steps }: HistoryResolution): EpochMs {
  return stepStart(now, stepMs) - stepMs * steps
}

/** The history and the failed runs of one queue, for drivers that keep them in memory. */
export class RecordedHistory {
  readonly #steps: Map<number, Map<EpochMs, HistoryStep>> = new Map()
  /** Newest first. */
  #failed: readonly FailedRun[] = []

  /** Adds a record. `depth` is called once in each of the shortest steps. */
  record(record: WorkRecord, now: EpochMs, depth: () => Depth): void {
    let counted: Depth | undefined
    for (const resolution of historyResolutions) {
      const { stepMs } = resolution
      const kept = this.#steps.get(stepMs) ?? new Map<EpochMs, HistoryStep>()
      this.#steps.set(stepMs, kept)
      const at = stepStart(now, stepMs)
      counted ??= kept.get(at)?.depth ?? depth()
      kept.set(at, addToStep(kept.get(at), at, record, counted))
      for (const old of kept.keys()) if (old <= stepsGoneAt(now, resolution)) kept.delete(old)
    }
    const newest = [...record.failedRuns].reverse()
    this.#failed = keptRuns([...newest, ...this.#failed], now)
  }

  /** The steps of the resolution with this length that are kept at `now`, oldest first. */
  steps(stepMs: number, now: EpochMs): HistoryStep[] {
    const resolution = historyResolutions.find((each) => each.stepMs === stepMs)
    if (resolution === undefined) return []
    const since = stepsGoneAt(now, resolution)
    const kept = [...(this.#steps.get(stepMs)?.values() ?? [])].filter(({ at }) => at > since)
    return kept.sort((a, b) => a.at - b.at)
  }

  /** The failed runs that are kept at `now`, newest first. */
  failedRuns(now: EpochMs): readonly FailedRun[] {
    return keptRuns(this.#failed, now)
  }
}

/** The runs to keep: those that are not too old, the newest of each code, and of these the newest. */
function keptRuns(newestFirst: readonly FailedRun[], now: EpochMs): FailedRun[] {
  const ofCode = new Map<string, number>()
  return newestFirst
    .filter(({ at }) => at > now - failedRunsMsMax)
    .sort((a, b) => b.at - a.at)
    .filter(({ code }) => {
      const rank = (ofCode.get(code) ?? 0) + 1
      ofCode.set(code, rank)
      return rank <= failedRunsOfCodeMax
    })
    .slice(0, failedRunsMax)
}
