import {
  addCodes,
  type CodeCounts,
  type Counts,
  type Depth,
  depthOf,
  type FailedRun,
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  type HistoryReply,
  type HistoryStep,
  historyResolutions,
  stepStart,
  stepsGoneAt,
  type WorkCounts,
  type WorkRecord,
} from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import type { StoreRow } from './store-row.ts'
import type { WriteTransaction } from './write-transaction.ts'

interface StepColumns {
  readonly step_ms: number
  readonly at: number
  readonly started: number
  readonly done: number
  readonly failed: number
  readonly added: number
  readonly merged: number
  readonly expired: number
  readonly ready: number
  readonly delayed: number
  readonly held: number
  readonly parked: number
  readonly oldest_ms: number
  readonly capped: number
  readonly paused: number
  readonly codes: string
}

interface FailedRunColumns {
  readonly at: number
  readonly key: string
  readonly code: string
  readonly holder: string
  readonly failures: number
  readonly last_error: string
}

function stepOf(row: StepColumns): HistoryStep {
  const { at, started, done, failed, added, merged, expired } = row
  const { ready, delayed, held, parked, oldest_ms: oldestMs, capped, paused, codes } = row
  return {
    ...{ at, started, done, failed, added, merged, expired },
    depth: { ready, delayed, held, parked, oldestMs, capped: capped === 1, paused: paused === 1 },
    codes: JSON.parse(codes) as CodeCounts,
  }
}

/** The columns of what is the same in the steps of all lengths. */
function columnsOf(counts: WorkCounts, depth: Depth): readonly number[] {
  const { started, done, failed, added, merged, expired } = counts
  const { ready, delayed, held, parked, oldestMs, capped, paused } = depth
  return [
    ...[started, done, failed, added, merged, expired],
    ...[ready, delayed, held, parked, oldestMs, Number(capped), Number(paused)],
  ]
}

/** Adds what a worker did to the history of its queue. `count` is called once in each short step. */
export function addRecord(tx: WriteTransaction, record: WorkRecord, count: () => Counts): void {
  const { statements, queueId, now } = tx
  const starts = historyResolutions.map(({ stepMs }) => [stepMs, stepStart(now, stepMs)] as const)
  const stored = statements.historyFind.all(JSON.stringify(starts), queueId) as StepColumns[]
  const before = starts.map(([stepMs]) => stored.find((row) => row.step_ms === stepMs))
  const depth = before[0] === undefined ? depthOf(count(), now) : stepOf(before[0]).depth
  const steps = starts.map(([stepMs, at], index) => {
    const codes = JSON.parse(before[index]?.codes ?? '[]') as CodeCounts
    return [stepMs, at, JSON.stringify(addCodes(codes, record.codes))]
  })
  statements.historySave.run(queueId, ...columnsOf(record, depth), JSON.stringify(steps))
  // What is old is deleted with the first record of each minute, and not read meanwhile.
  const isFirst = before[1] === undefined
  if (isFirst) {
    for (const resolution of historyResolutions) {
      statements.historySweep.run(queueId, resolution.stepMs, stepsGoneAt(now, resolution))
    }
  }
  for (const { at, key, code, holder, failures, lastError } of record.failedRuns) {
    statements.failedRunsAdd.run(queueId, at, key, code, holder, failures, lastError)
  }
  if (record.failedRuns.length === 0 && !isFirst) return
  const since = now - failedRunsMsMax
  statements.failedRunsSweep.run(queueId, queueId, since, failedRunsOfCodeMax, failedRunsMax)
}

/** Deletes the history and the failed runs of a queue. */
export function deleteHistory(statements: Statements, queue: number, now: number): void {
  for (const { stepMs } of historyResolutions) statements.historySweep.run(queue, stepMs, now)
  statements.failedRunsSweep.run(queue, queue, now, 0, 0)
}

/** The steps of one length that are kept of a queue. */
export function historyVerb(
  statements: Statements,
  { queue, now }: StoreRow,
  stepMs: number,
): HistoryReply {
  const resolution = historyResolutions.find((each) => each.stepMs === stepMs)
  if (queue === undefined || resolution === undefined) return { now, steps: [] }
  const since = stepsGoneAt(now, resolution)
  const rows = statements.historyList.all(queue.id, stepMs, since) as StepColumns[]
  return { now, steps: rows.map(stepOf) }
}

/** The failed runs that are kept of a queue, newest first. */
export function failedRunsVerb(statements: Statements, { queue, now }: StoreRow): FailedRun[] {
  if (queue === undefined) return []
  const rows = statements.failedRunsList.all(queue.id, now - failedRunsMsMax) as FailedRunColumns[]
  return rows.map(({ last_error, ...run }) => ({ ...run, lastError: last_error }))
}
