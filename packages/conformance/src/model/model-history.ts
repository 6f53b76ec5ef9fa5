import type { CodeCounts, EpochMs, FailedRun, HistoryStep, WorkCounts } from '@sluice/core'
import {
  addCodes,
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  historyResolutions,
} from '@sluice/core/driver'
import type { ModelQueue, ModelRecord } from './model-store.ts'

const countNames: readonly (keyof WorkCounts)[] = [
  'started',
  'done',
  'failed',
  'added',
  'merged',
  'expired',
]

function startOf(at: EpochMs, stepMs: number): EpochMs {
  return at - (at % stepMs)
}

/** The depth that the first record of the same ten seconds counted. */
function depthAt(records: readonly ModelRecord[], { at }: ModelRecord): ModelRecord['depth'] {
  const stepMs = historyResolutions[0]?.stepMs ?? 0
  const first = records.find((each) => startOf(each.at, stepMs) === startOf(at, stepMs))
  return (first as ModelRecord).depth
}

function stepOf(queue: ModelQueue, at: EpochMs, records: readonly ModelRecord[]): HistoryStep {
  const counts = Object.fromEntries(
    countNames.map((name) => [name, records.reduce((sum, { record }) => sum + record[name], 0)]),
  ) as unknown as WorkCounts
  const depth = depthAt(queue.records, records.at(-1) as ModelRecord)
  let codes: CodeCounts = []
  for (const { record } of records) codes = addCodes(codes, record.codes)
  return { at, ...counts, depth, codes }
}

/** The history of a queue: all records, grouped by the step they were added in. */
function steps(queue: ModelQueue, stepMs: number, now: EpochMs): HistoryStep[] {
  const kept = historyResolutions.find((each) => each.stepMs === stepMs)?.steps ?? 0
  const since = startOf(now, stepMs) - kept * stepMs
  const starts = new Set(queue.records.map(({ at }) => startOf(at, stepMs)))
  return [...starts]
    .filter((start) => start > since)
    .sort((a, b) => a - b)
    .map((start) => {
      const inStep = queue.records.filter(({ at }) => startOf(at, stepMs) === start)
      return stepOf(queue, start, inStep)
    })
}

/** The failed runs of a queue that are kept, newest first. */
function failedRuns({ failedRuns: all }: ModelQueue, now: EpochMs): FailedRun[] {
  const newestFirst = all
    .filter(({ at }) => at > now - failedRunsMsMax)
    .reverse()
    .sort((a, b) => b.at - a.at)
  const isKept = (run: FailedRun, index: number): boolean => {
    const before = newestFirst.slice(0, index).filter(({ code }) => code === run.code)
    return before.length < failedRunsOfCodeMax
  }
  return newestFirst.filter(isKept).slice(0, failedRunsMax)
}

/** The members of a record that the model reads. */
export const modelHistory: {
  readonly steps: typeof steps
  readonly failedRuns: typeof failedRuns
} = { steps, failedRuns }
