import type { EpochMs } from '@sluice/core'
import type { FailedRunInfo, StoreInspection } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import { formatAge } from '../../duration.ts'
import { shown } from '../../output/escape.ts'
import type { Column } from '../../output/table.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { queueNames } from '../../rows/queue-rows.ts'

/** The failed runs of a queue that have one code. */
interface FailureGroup {
  readonly queue: string
  readonly code: string
  /** How many of them are kept: a bounded number for each code. */
  readonly kept: number
  readonly lastAt: EpochMs
  /** The latest one. */
  readonly key: string
  readonly failures: number
  readonly message: string
}

/** Groups failed runs, which come newest first, by their codes. */
function groupsOf(queue: string, runs: readonly FailedRunInfo[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>()
  for (const { at, key, code, failures, error } of runs) {
    const group = groups.get(code)
    groups.set(
      code,
      group === undefined
        ? { queue, code, kept: 1, lastAt: at, key, failures: failures + 1, message: error.message }
        : { ...group, kept: group.kept + 1 },
    )
  }
  return [...groups.values()]
}

async function allGroups(
  store: StoreInspection,
  names: readonly string[],
): Promise<readonly FailureGroup[]> {
  const groups: FailureGroup[] = []
  for (const name of names) groups.push(...groupsOf(name, await store.queue(name).failedRuns()))
  return groups.sort((a, b) => b.lastAt - a.lastAt)
}

function columnsAt(now: EpochMs): readonly Column<FailureGroup>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'CODE', text: ({ code }) => shown(code) },
    { title: 'KEPT', text: ({ kept }) => String(kept) },
    { title: 'LAST', text: ({ lastAt }) => `${formatAge(now - lastAt)} ago` },
    { title: 'KEY', text: ({ key }) => shown(key) },
    { title: 'FAILURES', wide: true, text: ({ failures }) => String(failures) },
    { title: 'MESSAGE', text: ({ message }) => shown(message) },
  ]
}

export const failures: CommandSpec = {
  name: 'failures',
  summary: 'Show the failed runs of the last day, by error code',
  details:
    'Workers record them, so they outlive their keys. KEPT is how many runs with that code are on record, which is bounded; KEY and MESSAGE are of the latest one.',
  group: 'Inspect',
  positionals: [{ name: 'QUEUE', summary: 'only this queue', kind: 'queue', optional: true }],
  options: watchOptions,
  examples: [
    { line: 'sluice failures', does: 'of every queue, the latest first' },
    { line: 'sluice ls orders --error-code ECONNREFUSED', does: 'the keys that failed so last' },
  ],
  json: '{ failures: [{ queue, code, kept, lastAt, key, failures, message }] }',
  async run(context) {
    const { inspection } = await context.store('existing')
    const names = await queueNames(context, inspection)
    await printWatched(context, {
      async look() {
        const [rows, now] = await Promise.all([allGroups(inspection, names), inspection.now()])
        return {
          rows,
          columns: () => columnsAt(now),
          name: ({ queue, code }) => `${queue}/${code}`,
          document: () => ({ failures: rows }),
          none: 'no failed runs on record',
        }
      },
      asJson: (row) => row,
    })
    return undefined
  },
}
