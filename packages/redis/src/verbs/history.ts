import {
  type CodeCounts,
  compareKeys,
  type FailedRun,
  failedRunsMax,
  failedRunsMsMax,
  failedRunsOfCodeMax,
  type HistoryReply,
  type HistoryStep,
  historyCodesMax,
  historyResolutions,
  stepsGoneAt,
  type WorkRecord,
} from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { number, numbers } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

const bounds: readonly string[] = [
  historyResolutions.map(({ stepMs, steps }) => `${stepMs} ${steps}`).join(' '),
  [historyCodesMax, failedRunsMax, failedRunsOfCodeMax, failedRunsMsMax].join(' '),
]

/** A record, as the script of a tick gets it. */
export function recordArgs(record: WorkRecord): readonly string[] {
  const { started, done, failed, added, merged, expired, codes, failedRuns } = record
  const most = [...codes].sort((a, b) => b[1] - a[1] || compareKeys(a[0], b[0]))
  return [
    ...bounds,
    [started, done, failed, added, merged, expired].join(' '),
    JSON.stringify(most.slice(0, historyCodesMax)),
    String(failedRuns.length),
    ...failedRuns.flatMap(({ at, code, ...run }) => [String(at), code, JSON.stringify(run)]),
  ]
}

async function recorded(store: Store, queue: string, what: 'steps' | 'failed') {
  const reply = await store.run('history', queue, [what], { usesRecords: true })
  const cells = reply.slice(verbStart) as readonly string[]
  const fields: [name: string, text: string][] = []
  for (let at = 0; at < cells.length; at += 2) {
    if (cells[at] !== '') fields.push([cells[at]!, cells[at + 1]!])
  }
  return { now: number(reply[0]), fields }
}

function stepOf(at: number, text: Reply): HistoryStep {
  const [, counts, codes = '[]'] = /^(.*?) (\[.*)$/s.exec(String(text)) ?? []
  const all = numbers(counts)
  const [started = 0, done = 0, failed = 0, added = 0, merged = 0, expired = 0, ...depth] = all
  const [ready = 0, delayed = 0, held = 0, parked = 0, oldestMs = 0, capped = 0, paused = 0] = depth
  return {
    ...{ at, started, done, failed, added, merged, expired },
    depth: { ready, delayed, held, parked, oldestMs, capped: capped === 1, paused: paused === 1 },
    codes: JSON.parse(codes) as CodeCounts,
  }
}

/** The steps of one length that are kept of a queue. */
export async function history(store: Store, queue: string, stepMs: number): Promise<HistoryReply> {
  const { now, fields } = await recorded(store, queue, 'steps')
  const resolution = historyResolutions.find((each) => each.stepMs === stepMs)
  if (resolution === undefined) return { now, steps: [] }
  const since = stepsGoneAt(now, resolution)
  const steps = fields
    .filter(([name]) => name.startsWith(`${stepMs}:`))
    .map(([name, text]) => stepOf(number(name.slice(name.indexOf(':') + 1)), text))
    .filter(({ at }) => at > since)
  return { now, steps: steps.sort((a, b) => a.at - b.at) }
}

/** The failed runs that are kept of a queue, newest first. */
export async function failedRuns(store: Store, queue: string): Promise<readonly FailedRun[]> {
  const { now, fields } = await recorded(store, queue, 'failed')
  const runs = fields.map(([nth, text]) => {
    const [, at, length, rest = ''] = /^(\S+) (\d+) (.*)$/s.exec(text) ?? []
    // The length is that of the bytes.
    const bytes = new TextEncoder().encode(rest)
    const [code, json] = [bytes.slice(0, Number(length)), bytes.slice(Number(length))]
    const decoder = new TextDecoder()
    const run = JSON.parse(decoder.decode(json)) as Omit<FailedRun, 'at' | 'code'>
    return { nth: Number(nth), run: { ...run, at: number(at), code: decoder.decode(code) } }
  })
  return runs
    .filter(({ run }) => run.at > now - failedRunsMsMax)
    .sort((a, b) => b.run.at - a.run.at || b.nth - a.nth)
    .map(({ run }) => run)
}
