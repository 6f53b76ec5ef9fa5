import { nextTurn } from '@sluice/core'
import type { Inspect, KeyFilter, KeyInfo, StoreInspection } from 'sluice'
import { type CommandSpec, queueArgument } from '../../command.ts'
import type { Context } from '../../context.ts'
import { shown } from '../../output/escape.ts'
import { keyColumns } from '../../rows/key-columns.ts'
import { keyFilterOf, keyFilterOptions } from '../../rows/key-filters.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { knownQueue } from '../../stores/known-queue.ts'

/** The default limit, and how many keys are read at a time. */
const limitDefault = 100
const pageMax = 1_000

function matches({ failures, lastError }: KeyInfo, filter: KeyFilter): boolean {
  const { failuresMin = 0, errorCode } = filter
  if (failures < failuresMin) return false
  // The name of an error stands for a missing code.
  return errorCode === undefined || (lastError?.code ?? lastError?.name) === errorCode
}

/** The keys that match a filter, page by page, until stdout is closed. */
async function* pagesOf(
  inspect: Inspect,
  filter: KeyFilter,
  closed: AbortSignal,
): AsyncGenerator<readonly KeyInfo[]> {
  const { state, prefix } = filter
  let cursor: string | undefined
  do {
    const page = await inspect.list({
      limit: pageMax,
      ...(state === undefined ? {} : { state }),
      ...(prefix === undefined ? {} : { prefix }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    yield page.keys.filter((info) => matches(info, filter))
    cursor = page.cursor
    // A file answers at once: signals and --timeout would have to wait for the last page.
    await new Promise<void>(nextTurn)
  } while (cursor !== undefined && !closed.aborted)
}

/** The first keys that match a filter, and whether there are more. */
async function keysOf(
  inspect: Inspect,
  filter: KeyFilter,
  limit: number,
  closed: AbortSignal,
): Promise<{ keys: readonly KeyInfo[]; more: boolean }> {
  const keys: KeyInfo[] = []
  for await (const page of pagesOf(inspect, filter, closed)) {
    for (const info of page) {
      if (keys.length === limit) return { keys, more: true }
      keys.push(info)
    }
  }
  return { keys, more: false }
}

/** Prints all keys as they are read; only one page is in memory at a time. */
async function printAll(
  { print, terminal }: Context,
  store: StoreInspection,
  queue: string,
  filter: KeyFilter,
): Promise<void> {
  const pages = pagesOf(store.queue(queue), filter, terminal.stdout.closed)
  if (print.isDocument) {
    const tail = { truncated: false }
    return await print.listDocument({ head: { queue }, pages, tail })
  }
  const now = await store.now()
  const table = print.table<KeyInfo>((paint) => keyColumns(paint, now))
  let count = 0
  for await (const keys of pages) {
    if (keys.length === 0) continue
    count += keys.length
    if (print.format === 'name') await print.names(keys.map(({ key }) => key))
    else await print.lines(table.lines(keys))
  }
  if (count === 0) await print.note(`no such keys in ${shown(queue)}`)
}

export const ls: CommandSpec = {
  name: 'ls',
  summary: 'List the keys of a queue, ordered by name',
  details:
    'DUE is when the key runs next: now, after a delay, or after the run in progress. AGE is the time since that run was added.',
  group: 'Inspect',
  positionals: [queueArgument],
  options: [
    ...keyFilterOptions,
    { flags: '--limit <N>', summary: 'the maximum number of keys (default: 100)' },
    { flags: '-A, --all', summary: 'all keys, without a limit' },
    ...watchOptions,
  ],
  examples: [
    { line: 'sluice ls orders --state backoff', does: 'keys that wait for a retry' },
    { line: 'sluice ls orders --failures-min 3 -o wide', does: 'with items and last errors' },
    { line: 'sluice ls orders --all -o name', does: 'all keys, one per line' },
  ],
  json: '{ queue, keys: [{ key, state, item, priority, askedAt?, dueAt?, why?, laterAt?, readyAt?, failures, crashes, parked, held?: { holder?, token, leaseUntil?, dirtySince? }, lastError?: { name, message, code?, stack?, retryAfterMs? } }], truncated }',
  async run(context) {
    const { input, print, terminal } = context
    const queue = input.queue()
    const filter = keyFilterOf(input)
    const limit = input.flag('all') ? Infinity : (input.whole('limit', { min: 1 }) ?? limitDefault)
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    if (input.flag('all') && !input.flag('watch')) {
      await printAll(context, inspection, queue, filter)
      return undefined
    }
    let isMore = false
    await printWatched(context, {
      async look() {
        const [{ keys, more }, now] = await Promise.all([
          keysOf(inspect, filter, limit, terminal.stdout.closed),
          inspection.now(),
        ])
        isMore = more
        return {
          rows: keys,
          columns: (paint) => keyColumns(paint, now),
          name: ({ key }) => key,
          document: () => ({ queue, keys, truncated: more }),
          none: `no such keys in ${shown(queue)}`,
        }
      },
      asJson: (info) => info,
    })
    if (isMore) await print.note(`more than ${limit} keys match: see --limit and --all`)
    return undefined
  },
}
