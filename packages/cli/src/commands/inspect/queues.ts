// This folder is the commands that read; none of them changes a store.

import type { CommandSpec } from '../../command.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { queueColumns, queueRows, withoutAge } from '../../rows/queue-rows.ts'

const none = 'no queues in this store'

export const queues: CommandSpec = {
  name: 'queues',
  summary: 'List the queues of a store and their state',
  details:
    'STATE is the first of these that is true: no workers (keys are ready, or held under expired leases, and no worker is online), leases lost, paused, falling behind, waiting long, failing, parked (there are parked keys), or ok; `sluice describe` says why.',
  group: 'Inspect',
  options: watchOptions,
  examples: [
    { line: 'sluice queues -s sqlite:./queue.db', does: 'all queues of a file' },
    { line: 'sluice queues -w -o wide', does: 'all columns, repeated on change' },
  ],
  json: '{ queues: [{ queue, severity, urgency, reason, paused, counts: { ready, delayed, backoff, processing, dirty, parked, idle }, capped, oldestReadyAt?, oldestAgeMs?, workers? }] }',
  async run(context) {
    const { input, print } = context
    const { inspection } = await context.store('existing')
    if (print.format === 'name' && !print.isDocument && !input.flag('watch')) {
      // A store of many queues has them in one answer; their counts are several calls for each.
      const names = await inspection.queues()
      return await (names.length > 0 ? print.names(names) : print.note(none))
    }
    await printWatched(context, {
      async look() {
        const { read: rows, unread } = await queueRows(inspection)
        return {
          rows,
          columns: queueColumns,
          name: ({ queue }) => queue,
          document: () => ({ queues: rows }),
          none,
          unread,
        }
      },
      asJson: withoutAge,
    })
  },
}
