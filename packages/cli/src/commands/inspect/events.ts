import type { CommandSpec } from '../../command.ts'
import type { Context } from '../../context.ts'
import { oneLine, safeJson, shown } from '../../output/escape.ts'
import { fieldsOf } from '../../output/fields.ts'
import { formatInstant } from '../../output/instant.ts'
import type { Column, Table } from '../../output/table.ts'
import { repeatedReads } from '../../rows/repeated-reads.ts'
import { type StoreEvent, StoreEvents } from '../../rows/store-events.ts'
import { UnreadWarnings } from '../../rows/unread-warnings.ts'
import { knownQueue } from '../../stores/known-queue.ts'

const columns = (): readonly Column<StoreEvent>[] => [
  { title: 'TIME', text: ({ at }) => formatInstant(at) },
  { title: 'QUEUE', text: ({ queue }) => shown(queue) },
  { title: 'EVENT', text: ({ event }) => event },
  { title: 'KEY', text: ({ key }) => (key === undefined ? '' : shown(key)) },
  { title: 'CODE', text: ({ code }) => (code === undefined ? '' : shown(code)) },
  { title: 'MESSAGE', text: ({ words }) => oneLine(words) },
]

function nameOf({ queue, event, key }: StoreEvent): string {
  return [queue, event, key].filter(Boolean).join('/')
}

/** Prints events as they are noticed, one on each line in any format. */
async function printSome(
  { print }: Context,
  table: Table<StoreEvent>,
  events: readonly StoreEvent[],
): Promise<void> {
  const { fields } = print
  if (events.length === 0) return
  if (fields !== undefined) await print.lines(events.map((event) => fieldsOf(event, fields)))
  else if (print.isDocument) await print.lines(events.map((event) => safeJson(event)))
  else if (print.format === 'name') await print.names(events.map(nameOf))
  else await print.lines(table.lines(events))
}

export const events: CommandSpec = {
  name: 'events',
  summary: 'Show what happened in queues, and with --follow what happens',
  details:
    'Shows when the current workers started and, if the store keeps a history, failed runs of the last day. With --follow, the store is read every 2s, and changes are printed: failed runs, workers that start, stop or vanish, pauses, parked keys, and states of queues. What comes and goes between two reads is not seen; successful runs and adds are not events.',
  group: 'Inspect',
  positionals: [{ name: 'QUEUE', summary: 'only this queue', kind: 'queue', optional: true }],
  options: [
    { flags: '-f, --follow', summary: 'go on with what happens' },
    { flags: '--interval <DURATION>', summary: 'the interval between reads (default: 2s)' },
  ],
  examples: [
    { line: 'sluice events orders --follow', does: 'as it happens, until Ctrl-C' },
    { line: 'sluice events --follow -o json', does: 'a line of JSON for each event' },
  ],
  json: '{ events: [{ at, queue, event, key?, code?, words }] }; with --follow, each event on a line',
  async run(context) {
    const { input, print, signal, terminal } = context
    const queue = input.queueIfGiven()
    const { inspection } = await context.store('existing')
    if (queue !== undefined) await knownQueue(context, inspection, queue)
    const source = new StoreEvents(inspection, queue)
    if (!input.flag('follow')) {
      const rows = await source.next()
      return await print.listing({
        rows,
        columns,
        name: nameOf,
        document: () => ({ events: rows }),
        none: 'no events on record',
        unread: source.unread,
      })
    }
    const until = AbortSignal.any([signal, terminal.stdout.closed])
    const table = print.table(columns)
    const warnings = new UnreadWarnings(context)
    for await (const some of repeatedReads(context, until, () => source.next())) {
      await printSome(context, table, some)
      await warnings.warn(source.unread)
    }
  },
}
