import { heldUpMs } from '@sluice/needs/hold-ups'
import type { Line, Record } from './record.ts'

/** What a run is checked for in addition to the rules that always hold. */
export interface CheckOptions {
  /** How long a promise may be pending. */
  readonly pendingMsMax: number
  /** By how much two runs of a key may overlap: timers of a busy machine are late. */
  readonly overlapMsMax: number
}

interface Run {
  readonly process: string
  readonly key: string
  readonly token: number
  readonly from: number
  readonly until: number
}

interface Pause {
  /** `undefined`: all of them. */
  readonly process: string | undefined
  readonly at: number
  readonly until: number
}

/** After a pause, a process needs a moment to notice what it has lost. */
const noticeMs = 1_000

/**
 * What the records prove to be wrong: acknowledged adds that never ran, tokens that were given out
 * twice or out of order, keys that ran twice at a time, promises that were pending for too long.
 */
export function checkRecords(records: readonly Record[], options: CheckOptions): string[] {
  const lines = records.flat()
  const pauses: Pause[] = [
    ...lines.filter((line) => line.what === 'paused'),
    ...lines
      .filter((line) => line.what === 'stalled')
      .map(({ at, ms }) => ({ process: undefined, at: at - ms, until: at })),
  ]
  const runs = records.flatMap(runsOf)
  return [
    ...lostAdds(records, runs),
    ...wrongTokens(runs, [...pauses, ...records.flatMap(holdUpsOf)], options),
    ...longPending(records, pauses, options),
  ]
}

function processOf(record: Record): string {
  const first = record.find((line) => line.what === 'process')
  return first?.process ?? 'a process without a name'
}

/** When a process was held up: it could not know either that a lease had ended. */
function holdUpsOf(record: Record): Pause[] {
  return record.flatMap((line) => {
    if (line.what !== 'held up') return []
    return [{ process: processOf(record), at: line.at - line.ms, until: line.at }]
  })
}

/** The runs of a process. One that did not end was ended with its process. */
function runsOf(record: Record): Run[] {
  const process = processOf(record)
  const last = record.at(-1)?.at ?? 0
  return record.flatMap((line, index): Run[] => {
    if (line.what !== 'began') return []
    const { key, token, at: from } = line
    const isEnd = (other: Line): boolean =>
      other.what === 'ended' && other.key === key && other.token === token
    const until = record.slice(index).find(isEnd)?.at ?? last
    return [{ process, key, token, from, until }]
  })
}

function lostAdds(records: readonly Record[], runs: readonly Run[]): string[] {
  const lastRun = new Map<string, number>()
  for (const { key, from } of runs) lastRun.set(key, Math.max(from, lastRun.get(key) ?? -Infinity))
  return records.flatMap((record) => {
    const sent = new Map<number, { readonly key: string; readonly at: number }>()
    const problems: string[] = []
    for (const line of record) {
      if (line.what === 'sent') sent.set(line.add, line)
      if (line.what !== 'acknowledged') continue
      const add = sent.get(line.add)
      if (add === undefined) problems.push(`add ${line.add} was acknowledged, and not sent`)
      else if ((lastRun.get(add.key) ?? -Infinity) < add.at) {
        problems.push(`${add.key} was added at ${add.at}, acknowledged, and has not run since`)
      }
    }
    return problems
  })
}

function wrongTokens(
  runs: readonly Run[],
  pauses: readonly Pause[],
  { overlapMsMax }: CheckOptions,
): string[] {
  const problems: string[] = []
  const byKey = new Map<string, Run[]>()
  for (const run of runs) {
    const own = byKey.get(run.key)
    if (own === undefined) byKey.set(run.key, [run])
    else own.push(run)
  }
  for (const [key, own] of byKey) {
    own.sort((a, b) => a.token - b.token)
    for (const [index, run] of own.entries()) {
      const next = own[index + 1]
      if (next === undefined) continue
      if (next.token === run.token) {
        problems.push(`${key} ran twice under the token ${run.token}`)
        continue
      }
      // A paused process cannot know that its lease has expired.
      const wasPaused = pauses.some(
        ({ process = run.process, at, until }) =>
          process === run.process && at <= run.until && until + noticeMs >= run.from,
      )
      if (wasPaused) continue
      if (run.from > next.from + overlapMsMax) {
        problems.push(`${key} began under ${run.token} after it had begun under ${next.token}`)
      } else if (run.until - next.from > overlapMsMax) {
        const ms = Math.round(run.until - next.from)
        problems.push(`${key} ran under ${run.token} and ${next.token} at a time, for ${ms} ms`)
      }
    }
  }
  return problems
}

function longPending(
  records: readonly Record[],
  pauses: readonly Pause[],
  { pendingMsMax }: CheckOptions,
): string[] {
  return records.flatMap((record) => {
    const process = processOf(record)
    return record.flatMap((line) => {
      if (line.what !== 'pending' || line.ms <= pendingMsMax) return []
      const from = line.at - line.ms
      const stopped = heldUpMs(
        pauses
          .filter((pause) => (pause.process ?? process) === process)
          .map(({ at, until }) => ({ from: at, until })),
        ...([from, line.at] as const),
      )
      // Not for all of a hold-up: that may be of the library's own making.
      if (line.ms - Math.max(stopped, line.unservedMs ?? 0) <= pendingMsMax) return []
      return [`${line.call} was pending for ${Math.round(line.ms)} ms`]
    })
  })
}
