import type { MemberRecord } from './failover-processes.ts'

/** What the records of a run say. */
export interface FailoverFigures {
  readonly acknowledgedAdds: number
  readonly runs: number
  /** Acknowledged adds of processes that live, of keys that never ran. */
  readonly lostAdds: number
  /** The same for processes that were killed. */
  readonly lostAddsOfKilled: number
  /** Runs that began after an acknowledged finish of the same key, which nobody had added again. */
  readonly runsAfterFinish: number
  /** Runs of a key after its first. */
  readonly runsAgain: number
  /** Runs whose signal was aborted. */
  readonly aborted: number
  /** Pairs of runs of one key at the same time, and how long the longest was. */
  readonly overlaps: number
  readonly overlapMsMax: number
  /** Runs under a token that is not greater than that of the run before. */
  readonly tokensOutOfOrder: number
  /** Runs of keys for which a crash was counted. */
  readonly crashes: number
}

interface Run {
  readonly token: number
  readonly from: number
  until: number
}

/** By how much timers of a busy machine make two runs overlap, in milliseconds. */
const latenessMs = 5

/** Every key is added once, so that its first run should be its only one. */
export function failoverFigures(members: readonly MemberRecord[]): FailoverFigures {
  const runs = new Map<string, Run[]>()
  const finishedAt = new Map<string, number>()
  const acknowledged: { readonly key: string; readonly wasKilled: boolean }[] = []
  let aborted = 0
  let crashes = 0
  for (const { record, wasKilled } of members) {
    const sent = new Map<number, string>()
    const open = new Map<string, Run>()
    const lastAt = record.at(-1)?.at ?? 0
    for (const line of record) {
      if (line.what === 'sent') sent.set(line.add, line.key)
      if (line.what === 'acknowledged') {
        acknowledged.push({ key: sent.get(line.add) ?? '', wasKilled })
      }
      if (line.what === 'finished') {
        finishedAt.set(line.key, Math.min(line.at, finishedAt.get(line.key) ?? Infinity))
      }
      if (line.what === 'began') {
        const run = { token: line.token, from: line.at, until: lastAt }
        open.set(`${line.token} ${line.key}`, run)
        const known = runs.get(line.key)
        if (known === undefined) runs.set(line.key, [run])
        else known.push(run)
        if ((line.crashes ?? 0) > 0) crashes += 1
      }
      if (line.what === 'ended') {
        const run = open.get(`${line.token} ${line.key}`)
        if (run !== undefined) run.until = line.at
        if (line.isAborted === true) aborted += 1
      }
    }
  }
  const lost = acknowledged.filter(({ key }) => !runs.has(key))
  let runsAgain = 0
  let runsAfterFinish = 0
  let overlaps = 0
  let overlapMsMax = 0
  let tokensOutOfOrder = 0
  for (const [key, own] of runs) {
    own.sort((one, other) => one.from - other.from)
    runsAgain += own.length - 1
    for (const [at, run] of own.entries()) {
      if (run.from > (finishedAt.get(key) ?? Infinity)) runsAfterFinish += 1
      const before = own[at - 1]
      if (before === undefined) continue
      if (run.token <= before.token) tokensOutOfOrder += 1
      const overlapMs = before.until - run.from
      if (overlapMs <= latenessMs) continue
      overlaps += 1
      overlapMsMax = Math.max(overlapMsMax, Math.round(overlapMs))
    }
  }
  return {
    acknowledgedAdds: acknowledged.length,
    runs: [...runs.values()].reduce((sum, own) => sum + own.length, 0),
    lostAdds: lost.filter(({ wasKilled }) => !wasKilled).length,
    lostAddsOfKilled: lost.filter(({ wasKilled }) => wasKilled).length,
    runsAfterFinish,
    runsAgain,
    aborted,
    overlaps,
    overlapMsMax,
    tokensOutOfOrder,
    crashes,
  }
}
