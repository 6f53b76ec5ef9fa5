import { manyWords } from '@sluice/core/words'
import type { StoreInspection } from 'sluice'
import type { CommandSpec } from '../../command.ts'
import type { Context } from '../../context.ts'
import { formatSpan } from '../../duration.ts'
import { formatInstant } from '../../output/instant.ts'
import { errorWords } from '../../output/report-error.ts'
import { type QueuesRead, queueRow, readQueues, urgencyOf } from '../../rows/queue-rows.ts'
import { intervalOf, repeatedReads } from '../../rows/repeated-reads.ts'
import { RunRates } from '../../rows/run-rates.ts'
import { type TopRow, TopScreen, topColumns } from '../../rows/top-screen.ts'
import { knownQueue } from '../../stores/known-queue.ts'

const enterScreen = '\u001b[?1049h\u001b[?25l'
const leaveScreen = '\u001b[?25h\u001b[?1049l'

async function rowsOf(
  store: StoreInspection,
  queue: string | undefined,
  known: RunRates,
  until?: AbortSignal,
): Promise<QueuesRead<TopRow>> {
  const names = queue === undefined ? await store.queues() : [queue]
  const read = async (name: string): Promise<TopRow> => {
    const [row, workers] = await Promise.all([
      queueRow(store, name),
      store.capabilities.workers ? store.queue(name).workers() : [],
    ])
    const rates = known.of(name, workers)
    return rates === undefined ? row : { ...row, rates }
  }
  const { read: rows, unread } = await readQueues(names, read, until)
  return { read: rows.toSorted((a, b) => urgencyOf(b) - urgencyOf(a)), unread }
}

/** Draws over what is there instead of clearing it, which would flicker. */
function frame(lines: readonly string[]): string {
  return `\u001b[H${lines.join('\u001b[K\n')}\u001b[K\u001b[J`
}

async function live(context: Context, store: StoreInspection, label: string): Promise<void> {
  const { input, print, signal, terminal } = context
  const queue = input.queueIfGiven()
  const intervalMs = intervalOf(context)
  const known = new RunRates()
  const screen = new TopScreen()
  const quit = new AbortController()
  const until = AbortSignal.any([signal, terminal.stdout.closed, quit.signal])
  let rows: readonly TopRow[] = []
  let title = `${label}   reading…`
  const draw = async (): Promise<void> => {
    const { columns: width = 100, rows: height = 25 } = terminal.stdout
    if (!until.aborted)
      await print.data(frame(screen.lines(rows, title, { width, height }, print.paint)))
  }
  await print.data(enterScreen)
  context.defer(() => print.data(leaveScreen))
  const stopReading = terminal.stdin.onKey?.((key) => {
    if (screen.press(key)) quit.abort()
    else void draw()
  })
  if (stopReading !== undefined) context.defer(stopReading)
  const unreadWords = ({ unread }: QueuesRead<TopRow>): string => {
    const [first, ...others] = unread
    if (first === undefined) return ''
    const more =
      others.length === 0 ? '' : `; ${manyWords(others.length, 'more queue')} cannot be read`
    return `   ${errorWords(first.error, context.secrets)}${more}`
  }
  const read = async () => ({ at: await store.now(), of: await rowsOf(store, queue, known, until) })
  // Standard error is the same terminal, so that the screen has the warning.
  const warn = async (text: string): Promise<void> => {
    title = text
    await draw()
  }
  await draw()
  for await (const { at, of } of repeatedReads(context, until, read, warn)) {
    rows = of.read
    title = `${label}   ${formatInstant(at)}   every ${formatSpan(intervalMs)}${unreadWords(of)}`
    await draw()
  }
}

export const top: CommandSpec = {
  name: 'top',
  summary: 'Watch counts, rates and durations of queues',
  details:
    'Rates and durations cover the last minute, as reported by workers every 10 s. On a terminal, s sorts by the next column, r reverses the order, / filters by name, the arrow keys scroll, and q quits; columns that do not fit are left out, the least important first. With --once, or if stdout is not a terminal, it prints once, with figures since each worker started.',
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
    if (queue !== undefined) await knownQueue(context, inspection, queue)
    const isScreen = terminal.stdout.isTTY && terminal.env['TERM'] !== 'dumb'
    if (isScreen && !input.flag('once') && print.format === 'table') {
      return await live(context, inspection, address.label)
    }
    const { read: rows, unread } = await rowsOf(inspection, queue, new RunRates())
    await print.listing({
      rows,
      columns: topColumns,
      name: (row) => row.queue,
      document: () => ({ queues: rows }),
      none: 'no queues in this store',
      unread,
    })
  },
}
