import type { EpochMs, WorkerRow } from '@sluice/core'
import type { StoreInspection } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import { formatAge } from '../../duration.ts'
import { safeJson, shown } from '../../output/escape.ts'
import type { Column } from '../../output/table.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { type QueuesRead, readQueues } from '../../rows/queue-rows.ts'
import { refuseUnknown } from '../../stores/known-queue.ts'

/** A worker and its queue. */
type WorkerInQueue = WorkerRow & { readonly queue: string }

async function workersOf(
  store: StoreInspection,
  queue: string | undefined,
): Promise<QueuesRead<WorkerInQueue>> {
  const queues = queue === undefined ? await store.queues() : [queue]
  const read = async (name: string): Promise<WorkerInQueue[]> =>
    (await store.queue(name).workers()).map((row) => ({ queue: name, ...row }))
  const { read: rows, unread } = await readQueues(queues, read)
  return { read: rows.flat(), unread }
}

function columnsAt(now: EpochMs): readonly Column<WorkerInQueue>[] {
  return [
    { title: 'QUEUE', text: ({ queue }) => shown(queue) },
    { title: 'WORKER', text: ({ holder }) => shown(holder) },
    { title: 'HOST', text: ({ host }) => (host === '' ? '' : shown(host)) },
    { title: 'PID', text: ({ pid }) => String(pid) },
    {
      title: 'BUSY',
      text: ({ stats, concurrency }) => `${stats?.busy ?? '?'}/${concurrency}`,
    },
    { title: 'RUNS', text: ({ stats }) => (stats === undefined ? '' : String(stats.runs)) },
    { title: 'FAILED', text: ({ stats }) => (stats === undefined ? '' : String(stats.failed)) },
    { title: 'SEEN', text: ({ seenAt }) => `${formatAge(now - seenAt)} ago` },
    { title: 'AGE', text: ({ startedAt }) => formatAge(now - startedAt) },
    {
      title: 'LONGEST',
      wide: true,
      text: ({ stats, seenAt }) => {
        // As of the heartbeat: the run may have ended since.
        const longest = stats?.longest
        return longest === undefined
          ? ''
          : `${shown(longest.key)} (${formatAge(Math.max(0, seenAt - longest.startedAt))})`
      },
    },
    { title: 'SETTINGS', wide: true, text: ({ settings }) => safeJson(settings) },
  ]
}

export const workers: CommandSpec = {
  name: 'workers',
  summary: 'List the workers that were seen in the last minute',
  details: 'BUSY is the number of running handlers and the concurrency. Workers report every 10 s.',
  group: 'Inspect',
  positionals: [
    { name: 'QUEUE', summary: 'only workers of this queue', kind: 'queue', optional: true },
  ],
  options: watchOptions,
  examples: [{ line: 'sluice workers orders -o wide', does: 'with settings and longest runs' }],
  json: '{ workers: [{ queue, holder, host, pid, concurrency, settings, startedAt, seenAt, stats? }] }',
  async run(context) {
    const queue = context.input.queueIfGiven()
    const { inspection } = await context.store('existing')
    if (queue !== undefined) await refuseUnknown(context, inspection, [queue])
    await printWatched(context, {
      async look() {
        const [{ read: rows, unread }, now] = await Promise.all([
          workersOf(inspection, queue),
          inspection.now(),
        ])
        return {
          rows,
          columns: () => columnsAt(now),
          name: ({ holder }) => holder,
          document: () => ({ workers: rows }),
          none: 'no workers were seen in the last minute',
          unread,
        }
      },
      asJson: (row) => row,
    })
  },
}
