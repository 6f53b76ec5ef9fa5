import type { EpochMs } from '@sluice/core'
import { countWords } from '@sluice/core/words'
import type { FailedRunInfo, HistoryRange, QueueHistory, StoreInspection } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import { formatAge } from '../../duration.ts'
import { safeJson, shown } from '../../output/escape.ts'
import type { Column } from '../../output/table.ts'
import { cutTo } from '../../output/table.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { type QueuesRead, queueNames, readQueues } from '../../rows/queue-rows.ts'

/** The ranges of time, with the number of their steps. */
const ranges: Readonly<Record<HistoryRange, number>> = { '5m': 31, '1h': 61, '24h': 145 }

/** How wide a trend is, in characters. */
const trendWidth = 12

/** The maximum length of a message in a table. */
const messageMax = 80

/** The failed runs of a queue that have one code. */
interface FailureGroup {
  readonly queue: string
  readonly code: string
  /** How many runs failed in the range, and in each of its steps, oldest first. */
  readonly failed: number
  readonly perStep: readonly number[]
  /** How many of them are kept: a bounded number for each code. */
  readonly kept: number
  /** The latest one of those that are kept. */
  readonly lastAt?: EpochMs
  readonly key?: string
  readonly failures?: number
  readonly message?: string
}

/** A failed run of a queue. */
interface Run {
  readonly queue: string
  readonly at: EpochMs
  readonly key: string
  readonly code: string
  readonly failures: number
  readonly holder: string
  readonly message: string
}

/** The failed runs of one queue as they were read. */
interface Read {
  readonly queue: string
  readonly history: QueueHistory
  /** Newest first. */
  readonly runs: readonly FailedRunInfo[]
}

async function readAll(
  store: StoreInspection,
  names: readonly string[],
  range: HistoryRange,
): Promise<QueuesRead<Read>> {
  return await readQueues(names, async (queue) => {
    const inspect = store.queue(queue)
    const [history, runs] = await Promise.all([inspect.history({ range }), inspect.failedRuns()])
    return { queue, history, runs }
  })
}

/** Groups the failed runs of a queue by their codes. */
function groupsOf({ queue, history, runs }: Read, steps: number): FailureGroup[] {
  const { now, stepMs } = history
  const from = (Math.floor(now / stepMs) - steps + 1) * stepMs
  const groups = new Map<string, FailureGroup & { perStep: number[] }>()
  const groupOf = (code: string) =>
    groups.get(code) ?? {
      ...{ queue, code, failed: 0, kept: 0 },
      perStep: new Array<number>(steps).fill(0),
    }
  for (const { at, codes } of history.steps) {
    const index = Math.round((at - from) / stepMs)
    for (const [code, failed] of codes) {
      const group = groupOf(code)
      if (group.perStep[index] !== undefined) group.perStep[index] += failed
      groups.set(code, { ...group, failed: group.failed + failed })
    }
  }
  for (const { at, key, code, failures, error } of runs) {
    const group = groupOf(code)
    const newest = { lastAt: at, key, failures: failures + 1, message: error.message }
    groups.set(code, { ...group, ...(group.kept === 0 ? newest : {}), kept: group.kept + 1 })
  }
  return [...groups.values()]
}

/** The failed runs of several queues, newest first. */
function runsOf(read: readonly Read[], code: string): readonly Run[] {
  const all = read.flatMap(({ queue, runs }) =>
    runs
      .filter((run) => run.code === code)
      .map(({ at, key, failures, holder, error }) => ({
        ...{ queue, at, key, code, failures: failures + 1, holder, message: error.message },
      })),
  )
  return all.sort((a, b) => b.at - a.at)
}

/** Counts over time as a line of blocks; a dot where nothing failed. */
function trend(perStep: readonly number[]): string {
  const width = Math.ceil(perStep.length / trendWidth)
  const sums: number[] = []
  for (let end = perStep.length; end > 0; end -= width) {
    sums.unshift(perStep.slice(Math.max(0, end - width), end).reduce((a, b) => a + b, 0))
  }
  const most = Math.max(1, ...sums)
  return sums.map((sum) => (sum === 0 ? '.' : '▁▂▃▄▅▆▇█'[Math.ceil((sum / most) * 8) - 1])).join('')
}

function groupColumns(now: EpochMs, range: HistoryRange): readonly Column<FailureGroup>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'CODE', text: ({ code }) => shown(code) },
    { title: `LAST ${range.toUpperCase()}`, text: ({ failed }) => countWords(failed) },
    { title: 'TREND', text: ({ perStep }) => trend(perStep) },
    {
      title: 'LAST',
      text: ({ lastAt }) => (lastAt === undefined ? '' : `${formatAge(now - lastAt)} ago`),
    },
    { title: 'KEPT', wide: true, text: ({ kept }) => String(kept) },
    { title: 'KEY', text: ({ key }) => (key === undefined ? '' : shown(key)) },
    { title: 'FAILURES', wide: true, text: ({ failures }) => String(failures ?? '') },
    { title: 'MESSAGE', text: ({ message = '' }) => cutTo(shown(message), messageMax) },
  ]
}

function runColumns(now: EpochMs): readonly Column<Run>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'FAILED', text: ({ at }) => `${formatAge(now - at)} ago` },
    { title: 'KEY', text: ({ key }) => shown(key) },
    { title: 'FAILURES', text: ({ failures }) => String(failures) },
    { title: 'HOLDER', wide: true, text: ({ holder }) => shown(holder) },
    { title: 'MESSAGE', text: ({ message }) => shown(message) },
  ]
}

export const failures: CommandSpec = {
  name: 'failures',
  summary: 'Show failed runs by error code and over time',
  details:
    'Workers record them, so they outlive their keys. TREND is the range from left to right; KEY and MESSAGE are of the latest run. With --code, lists recorded runs with that code, at most 20 of each queue. An error without a code is listed by its name.',
  group: 'Inspect',
  positionals: [{ name: 'QUEUE', summary: 'only this queue', kind: 'queue', optional: true }],
  options: [
    {
      flags: '--range <RANGE>',
      summary: 'the time that is counted (default: 1h)',
      choices: Object.keys(ranges),
    },
    { flags: '--code <CODE>', summary: 'list the runs with this code' },
    ...watchOptions,
  ],
  examples: [
    { line: 'sluice failures', does: 'of every queue, the most frequent first' },
    { line: 'sluice failures --code ECONNREFUSED', does: 'which keys, and when' },
    { line: 'sluice ls orders --error-code ECONNREFUSED', does: 'the keys that failed so last' },
    {
      line: 'sluice run-now orders --all --error-code ECONNREFUSED',
      does: 'and try them all again',
    },
  ],
  json: '{ failures: [{ queue, code, failed, perStep, kept, lastAt?, key?, failures?, message? }] }, and with --code { runs: [{ queue, at, key, code, failures, holder, message }] }',
  async run(context) {
    const { input } = context
    const { inspection } = await context.store('existing')
    const names = await queueNames(context, inspection)
    const range = (input.text('range') ?? '1h') as HistoryRange
    const code = input.text('code')
    const none = 'no failed runs on record'
    const read = async () =>
      await Promise.all([readAll(inspection, await names(), range), inspection.now()])
    if (code !== undefined) {
      return await printWatched<Run>(context, {
        async look() {
          const [{ read: found, unread }, now] = await read()
          const rows = runsOf(found, code)
          return {
            rows,
            columns: () => runColumns(now),
            name: ({ queue, key, at }) => `${queue}/${key} ${at}`,
            id: ({ queue, key, at }) => safeJson([queue, key, at]),
            document: () => ({ runs: rows }),
            none: `${none} with the code ${shown(code)}`,
            unread,
          }
        },
        asJson: (row) => row,
      })
    }
    await printWatched<FailureGroup>(context, {
      async look() {
        const [{ read: found, unread }, now] = await read()
        const rows = found
          .flatMap((each) => groupsOf(each, ranges[range]))
          .sort((a, b) => b.failed - a.failed || (b.lastAt ?? 0) - (a.lastAt ?? 0))
        return {
          rows,
          columns: () => groupColumns(now, range),
          name: ({ queue, code: each }) => `${queue}/${each}`,
          id: ({ queue, code: each }) => safeJson([queue, each]),
          document: () => ({ failures: rows }),
          none,
          unread,
        }
      },
      // The trend moves on its own.
      asJson: ({ perStep: _, ...row }) => row,
    })
  },
}
