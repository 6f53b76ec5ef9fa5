import type { FailedRunInfo, KeyInfo, LastError, QueueHistory } from 'sluice'
import type { FailedRunView, FailureGroup } from '../wire.ts'
import { axisOf } from './chart-steps.ts'
import type { KeyDisplay } from './key-display.ts'

/** The maximum number of groups of a queue. */
const groupsMax = 50

/** The maximum length of a message. */
const messageMax = 300

type Group = { -readonly [Name in keyof FailureGroup]: FailureGroup[Name] } & {
  runs: FailedRunView[]
  perStep: number[]
}

/** The failures of a queue: the recorded ones, and those of keys that are still stored. */
export interface Failures {
  readonly queue: string
  readonly history: QueueHistory | undefined
  readonly runs: readonly FailedRunInfo[]
  /** Stored keys with failures, of those that were read. */
  readonly keys: readonly KeyInfo[]
  /** True if not all keys were read that may have failures. */
  readonly more: boolean
}

/** Failures by code, the most frequent first, each with its newest runs. */
export function failureGroups(
  failures: Failures,
  display: KeyDisplay,
  runsMax: number,
): FailureGroup[] {
  const { queue, history, more } = failures
  const groups = new Map<string, Group>()
  const groupOf = (label: string, code: string): Group => {
    const group = groups.get(label) ?? {
      ...{ queue, code: label, failed: 0, perStep: [], keys: 0, runs: [] },
      ...(more ? { isPart: true } : {}),
    }
    groups.set(label, group)
    if (label !== code) group.isRedacted = true
    return group
  }
  // A code passes the redaction of errors like everything else of them.
  const shownOf = (error: LastError, key: string): { group: Group; message: string } => {
    const { name, code, message } = display.error(error, { queue, key })
    const group = groupOf(code ?? name, error.code ?? error.name)
    return { group, message: message.slice(0, messageMax) }
  }
  if (history !== undefined) {
    countSteps(history, (code) => shownOf({ name: 'Error', code, message: '' }, '').group)
  }
  for (const { error, at, key, holder, failures: before } of failures.runs) {
    const { group, message } = shownOf(error, key)
    group.lastAt = Math.max(group.lastAt ?? at, at)
    if (group.runs.length === runsMax) continue
    group.runs.push({ at, key, holder, failures: before + 1, message })
  }
  for (const { key, failures: count, lastError, failedAt } of failures.keys) {
    if (lastError === undefined || count === 0) continue
    const { group, message } = shownOf(lastError, key)
    group.keys += 1
    if (failedAt !== undefined) group.lastAt = Math.max(group.lastAt ?? failedAt, failedAt)
    if (group.runs.length > 0) continue
    group.runs.push({ at: failedAt ?? 0, key, failures: count, message })
  }
  return [...groups.values()].sort(mostFirst).slice(0, groupsMax)
}

/** The order of groups: those with the most failed runs first. */
export function mostFirst(a: FailureGroup, b: FailureGroup): number {
  return b.failed - a.failed || b.keys - a.keys || (b.lastAt ?? 0) - (a.lastAt ?? 0)
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
