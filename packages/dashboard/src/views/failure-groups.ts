import type { FailedRunInfo, KeyInfo, QueueHistory } from 'sluice'
import type { FailedRunView, FailureGroup } from '../wire.ts'
import { axisOf } from './chart-steps.ts'
import type { KeyDisplay } from './key-display.ts'

/** The maximum number of groups, and of runs in each. */
const groupsMax = 50
const runsMax = 5

/** The maximum length of a message. */
const messageMax = 300

type Group = { -readonly [Name in keyof FailureGroup]: FailureGroup[Name] } & {
  runs: FailedRunView[]
  perStep: number[]
}

/** The failures of a queue: the recorded ones, and those of keys that are still stored. */
export interface Failures {
  readonly history: QueueHistory | undefined
  readonly runs: readonly FailedRunInfo[]
  /** Stored keys with failures, of those that were read. */
  readonly keys: readonly KeyInfo[]
}

/** Failures by code, the most frequent first. */
export function failureGroups(
  queue: string,
  failures: Failures,
  display: KeyDisplay,
): FailureGroup[] {
  const groups = new Map<string, Group>()
  const groupOf = (code: string): Group => {
    const group = groups.get(code) ?? { code, failed: 0, perStep: [], keys: 0, runs: [] }
    groups.set(code, group)
    return group
  }
  const { history } = failures
  // A code passes the redaction of errors like everything else of them.
  const labelOf = (code: string): string => {
    const shown = display.error({ name: 'Error', code, message: '' }, { queue, key: '' })
    return shown.code ?? shown.name
  }
  if (history !== undefined) countSteps(history, (code) => groupOf(labelOf(code)))
  for (const run of failures.runs) {
    const { error, at, key, holder } = run
    const { name, code, message } = display.error(error, { queue, key })
    const group = groupOf(code ?? name)
    if (group.runs.length === runsMax) continue
    group.runs.push({ at, key, holder, message: message.slice(0, messageMax) })
  }
  for (const { key, failures: count, lastError, failedAt } of failures.keys) {
    if (lastError === undefined || count === 0) continue
    const { name, code, message } = display.error(lastError, { queue, key })
    const group = groupOf(code ?? name)
    group.keys += 1
    if (code !== undefined) group.hasCode = true
    if (group.runs.length > 0) continue
    group.runs.push({ at: failedAt ?? 0, key, message: message.slice(0, messageMax) })
  }
  const most = [...groups.values()].sort((a, b) => b.failed - a.failed || b.keys - a.keys)
  return most.slice(0, groupsMax)
}

function countSteps(history: QueueHistory, groupOf: (code: string) => Group): void {
  const { steps, stepMs } = history
  const { from, count } = axisOf(history)
  for (const { at, codes } of steps) {
    const index = Math.round((at - from) / stepMs)
    for (const [code, failed] of codes) {
      const group = groupOf(code)
      if (group.perStep.length === 0) group.perStep = new Array<number>(count).fill(0)
      group.failed += failed
      if (index >= 0 && index < count) group.perStep[index] = (group.perStep[index] ?? 0) + failed
    }
  }
}
