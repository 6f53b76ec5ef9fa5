import type { StoreInspection } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import type { Context } from '../../context.ts'
import { formatAge, formatSpan } from '../../duration.ts'
import { shown } from '../../output/escape.ts'
import { formatInstant } from '../../output/instant.ts'
import { type Column, cutTo, Table } from '../../output/table.ts'
import { intervalOf } from '../../rows/print-watched.ts'
import { type QueueRow, queueRow, queueState } from '../../rows/queue-rows.ts'
import { type Rates, RunRates } from '../../rows/run-rates.ts'
import { wait } from '../../wait.ts'

/** A queue and the rates of its workers. */
type TopRow = QueueRow & { readonly rates?: Rates }

/** The order of the rows. */
const order = ['no workers', 'busy', 'paused', 'idle']

const enterScreen = '\u001b[?1049h\u001b[?25l'
const leaveScreen = '\u001b[?25h\u001b[?1049l'

function rate(perSecond: number): string {
  return perSecond >= 100 ? String(Math.round(perSecond)) : perSecond.toFixed(1)
}

const columns: readonly Column<TopRow>[] = [
  { title: 'QUEUE', text: ({ queue }) => shown(queue) },
  { title: 'STATE', text: queueState },
  { title: 'READY', text: ({ counts }) => String(counts.ready) },
  { title: 'DELAYED', text: ({ counts }) => String(counts.delayed) },
  { title: 'BACKOFF', text: ({ counts }) => String(counts.backoff) },
  { title: 'HELD', text: ({ counts }) => String(counts.processing + counts.dirty) },
  { title: 'PARKED', text: ({ counts }) => String(counts.parked) },
  {
    title: 'OLDEST',
    text: ({ oldestAgeMs }) => (oldestAgeMs === undefined ? '-' : formatAge(oldestAgeMs)),
  },
  { title: 'RUNS/S', text: ({ rates }) => (rates === undefined ? '-' : rate(rates.runsPerSecond)) },
  {
    title: 'FAILED',
    text: ({ rates }) => {
      const ratio = rates?.failedRatio
      return ratio === undefined ? '-' : `${(ratio * 100).toFixed(1)}%`
    },
  },
  { title: 'WAIT P95', text: ({ rates }) => span(rates?.waitP95Ms) },
  { title: 'WORK P95', text: ({ rates }) => span(rates?.workP95Ms) },
  {
    title: 'BUSY',
    text: ({ rates }) => (rates === undefined ? '-' : `${rates.busy}/${rates.slots}`),
  },
]

function span(ms: number | undefined): string {
  return ms === undefined ? '-' : formatSpan(ms)
}

async function rowsOf(
  store: StoreInspection,
  queue: string | undefined,
  known: RunRates,
): Promise<readonly TopRow[]> {
  const names = queue === undefined ? [...(await store.queues())].sort() : [queue]
  const rows: TopRow[] = []
  for (const name of names) {
    const [row, workers] = await Promise.all([
      queueRow(store, name),
      store.capabilities.workers ? store.queue(name).workers() : [],
    ])
    const rates = known.of(name, workers)
    rows.push(rates === undefined ? row : { ...row, rates })
  }
  const rank = (row: TopRow): number => order.indexOf(queueState(row))
  return rows.sort((a, b) => rank(a) - rank(b))
}

/** One screen: a title and as many rows as fit. */
function frame(rows: readonly TopRow[], title: string, { terminal, print }: Context): string {
  const { columns: width = 100, rows: height = 25 } = terminal.stdout
  const [header = '', ...lines] = new Table(columns, { wide: false, headers: true }).lines(rows)
  const room = Math.max(1, height - 3)
  const more = lines.length - room
  const shownLines = more > 0 ? [...lines.slice(0, room - 1), `and ${more + 1} more`] : lines
  const text = [
    cutTo(title, width),
    print.paint('bold', cutTo(header, width)),
    ...shownLines.map((line) => cutTo(line, width)),
  ]
  // Overwrites instead of clearing, which would flicker.
  return `\u001b[H${text.join('\u001b[K\n')}\u001b[K\u001b[J`
}

async function live(context: Context, store: StoreInspection, label: string): Promise<void> {
  const { input, print, signal, terminal } = context
  const queue = input.queueIfGiven()
  const intervalMs = intervalOf(context)
  const known = new RunRates()
  const until = AbortSignal.any([signal, terminal.stdout.closed])
  await print.data(enterScreen)
  context.defer(() => print.data(leaveScreen))
  do {
    const rows = await rowsOf(store, queue, known)
    const title = `${label}   ${formatInstant(await store.now())}   every ${formatSpan(intervalMs)}, Ctrl-C stops`
    if (!until.aborted) await print.data(frame(rows, title, context))
  } while (await wait(terminal.clock, intervalMs, until))
}

export const top: CommandSpec = {
  name: 'top',
  summary: 'Watch counts, rates and durations of queues',
  details:
    'Rates and durations cover the last minute, as reported by workers every 10 s. With --once, or if stdout is not a terminal, it prints once, with figures since each worker started.',
  group: 'Inspect',
  positionals: [{ name: 'QUEUE', summary: 'only this queue', kind: 'queue', optional: true }],
  options: [
    { flags: '--once', summary: 'print once' },
    { flags: '--interval <DURATION>', summary: 'the interval between reads (default: 2s)' },
  ],
  examples: [{ line: 'sluice top --once -o json', does: 'once, for a program' }],
  json: '{ queues: [{ …, rates?: { runsPerSecond, failedRatio?, waitP95Ms?, workP95Ms?, busy, slots } }] }: those of queues, with rates',
  async run(context) {
    const { input, print, terminal } = context
    const queue = input.queueIfGiven()
    const { address, inspection } = await context.store('existing')
    const isLive = terminal.stdout.isTTY && !input.flag('once') && print.format === 'table'
    if (isLive) {
      await live(context, inspection, address.label)
      return undefined
    }
    const rows = await rowsOf(inspection, queue, new RunRates())
    await print.listing({
      rows,
      columns: () => columns,
      name: (row) => row.queue,
      document: () => ({ queues: rows }),
      none: 'no queues in this store',
    })
    return undefined
  },
}
