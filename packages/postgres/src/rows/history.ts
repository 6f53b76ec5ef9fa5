import {
  type CodeCounts,
  type FailedRun,
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  type HistoryReply,
  type HistoryStep,
  historyCodesMax,
  historyDepthCap,
  historyResolutions,
  type WorkRecord,
} from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from './array-literal.ts'
import { flag, number } from './columns.ts'

const limits = [
  arrayLiteral(historyResolutions.map(({ stepMs }) => String(stepMs))),
  arrayLiteral(historyResolutions.map(({ steps }) => String(steps))),
  historyDepthCap,
  historyCodesMax,
  failedRunsMax,
  failedRunsOfCodeMax,
  failedRunsMsMax,
]

/** The arguments of a tick with a record: the record, and the limits of a history. */
export function recordValues(record: WorkRecord | undefined): readonly unknown[] {
  return [record === undefined ? null : JSON.stringify(record), ...limits]
}

function stepOf(row: Readonly<Record<string, unknown>>): HistoryStep {
  const count = (name: string): number => number(row[name])
  return {
    at: count('at'),
    started: count('started'),
    done: count('done'),
    failed: count('failed'),
    added: count('added'),
    merged: count('merged'),
    expired: count('expired'),
    depth: {
      ready: count('ready'),
      delayed: count('delayed'),
      held: count('held'),
      parked: count('parked'),
      oldestMs: count('oldest_ms'),
      capped: flag(row['capped']),
      paused: flag(row['paused']),
    },
    codes: JSON.parse(String(row['codes'])) as CodeCounts,
  }
}

/** The steps of one length that are kept of a queue. */
export async function history(store: Store, queue: string, stepMs: number): Promise<HistoryReply> {
  const kept = historyResolutions.find((each) => each.stepMs === stepMs)?.steps ?? 0
  const { now, least } = store.time.moment()
  // The present comes with every row, and alone if there is none.
  const rows = await store.run('history', [queue, stepMs, kept, now, least])
  const steps = rows.filter((row) => row['at'] !== null).map(stepOf)
  return { now: number(rows[0]?.['now']), steps }
}

/** The failed runs that are kept of a queue, newest first. */
export async function failedRuns(store: Store, queue: string): Promise<FailedRun[]> {
  const { now, least } = store.time.moment()
  return (await store.run('failedRuns', [queue, failedRunsMsMax, now, least])).map((row) => ({
    at: number(row['at']),
    key: String(row['key']),
    code: String(row['code']),
    holder: String(row['holder']),
    failures: number(row['failures']),
    lastError: String(row['last_error']),
  }))
}
