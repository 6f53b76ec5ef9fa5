import {
  addToStep,
  type CodeCounts,
  type Counts,
  type Depth,
  depthOf,
  type EpochMs,
  type FailedRun,
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  type HistoryReply,
  type HistoryStep,
  historyResolutions,
  stepStart,
  stepsGoneAt,
  type WorkRecord,
} from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { findQueue } from './queue-row.ts'
import type { WriteTransaction } from './write-transaction.ts'

interface StepColumns {
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
  const { ready, delayed, held, parked, oldest_ms: oldestMs, capped, codes } = row
  return {
    ...{ at, started, done, failed, added, merged, expired },
    depth: { ready, delayed, held, parked, oldestMs, capped: capped === 1 },
    codes: JSON.parse(codes) as CodeCounts,
  }
}

function columnsOf({ at, depth, codes, ...counts }: HistoryStep): readonly (number | string)[] {
  const { started, done, failed, added, merged, expired } = counts
  const { ready, delayed, held, parked, oldestMs, capped } = depth
  return [
    ...[at, started, done, failed, added, merged, expired],
    ...[ready, delayed, held, parked, oldestMs, Number(capped)],
    JSON.stringify(codes),
  ]
}

/** Adds what a worker did to the history of its queue. `count` is called once in each short step. */
export function addRecord(tx: WriteTransaction, record: WorkRecord, count: () => Counts): void {
  const { statements, queueId, now } = tx
  let depth: Depth | undefined
  for (const resolution of historyResolutions) {
    const { stepMs } = resolution
    const at = stepStart(now, stepMs)
    const row = statements.historyFind.get(queueId, stepMs, at) as StepColumns | undefined
    const before = row && stepOf(row)
    depth ??= before?.depth ?? depthOf(count(), now)
    const after = addToStep(before, at, record, depth)
    statements.historySave.run(queueId, stepMs, ...columnsOf(after))
    if (before === undefined) {
      statements.historySweep.run(queueId, stepMs, stepsGoneAt(now, resolution))
    }
  }
  if (record.failedRuns.length === 0) return
  for (const { at, key, code, holder, failures, lastError } of record.failedRuns) {
    statements.failedRunsAdd.run(queueId, at, key, code, holder, failures, lastError)
  }
  statements.failedRunsSweep.run(queueId, now - failedRunsMsMax, failedRunsOfCodeMax)
  statements.failedRunsTrim.run(queueId, failedRunsMax)
}

/** The steps of one length that are kept of a queue. */
export function historyVerb(
  statements: Statements,
  queue: string,
  stepMs: number,
  now: EpochMs,
): HistoryReply {
  const row = findQueue(statements, queue)
  const resolution = historyResolutions.find((each) => each.stepMs === stepMs)
  if (row === undefined || resolution === undefined) return { now, steps: [] }
  const since = stepsGoneAt(now, resolution)
  const rows = statements.historyList.all(row.id, stepMs, since) as StepColumns[]
  return { now, steps: rows.map(stepOf) }
}

/** The failed runs that are kept of a queue, newest first. */
export function failedRunsVerb(statements: Statements, queue: string, now: EpochMs): FailedRun[] {
  const row = findQueue(statements, queue)
  if (row === undefined) return []
  const rows = statements.failedRunsList.all(row.id, now - failedRunsMsMax) as FailedRunColumns[]
  return rows.map(({ last_error, ...run }) => ({ ...run, lastError: last_error }))
}
