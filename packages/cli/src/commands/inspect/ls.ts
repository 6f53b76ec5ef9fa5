import type { Inspect, KeyFilter, KeyInfo, StoreInspection } from 'sluice'
import { type CommandSpec, queueArgument } from '../../command.ts'
import type { Context } from '../../context.ts'
import { shown } from '../../output/escape.ts'
import { keyColumns } from '../../rows/key-columns.ts'
import { keyFilterOf, keyFilterOptions } from '../../rows/key-filters.ts'
import { printWatched, watchOptions } from '../../rows/print-watched.ts'
import { knownQueue } from '../../stores/known-queue.ts'

/** The default limit, and how many keys are read at a time at most. */
const limitDefault = 100
const pageMax = 1_000

function matches({ failures, lastError }: KeyInfo, filter: KeyFilter): boolean {
  const { failuresMin = 0, errorCode } = filter
  if (failures < failuresMin) return false
  // The name of an error stands for a missing code.
  return errorCode === undefined || (lastError?.code ?? lastError?.name) === errorCode
}

/** The keys that match a filter, page by page, until stdout is closed; `wanted` are enough. */
async function* pagesOf(
  inspect: Inspect,
  filter: KeyFilter,
  wanted: number,
  closed: AbortSignal,
): AsyncGenerator<readonly KeyInfo[]> {
  const { state, prefix, failuresMin, errorCode } = filter
  // Of those that the store sends, any number may match these two.
  const isSifted = failuresMin !== undefined || errorCode !== undefined
  const limit = isSifted ? pageMax : Math.min(wanted, pageMax)
  let cursor: string | undefined
  do {
    const page = await inspect.list({ limit, state, prefix, cursor })
    yield page.keys.filter((info) => matches(info, filter))
    cursor = page.cursor
  } while (cursor !== undefined && !closed.aborted)
}

/** The first keys that match a filter, page by page; calls `more` if there are more. */
async function* firstOf(
  inspect: Inspect,
  filter: KeyFilter,
  limit: number,
  closed: AbortSignal,
  more: () => void,
): AsyncGenerator<readonly KeyInfo[]> {
  let room = limit
  for await (const keys of pagesOf(inspect, filter, limit + 1, closed)) {
    yield keys.slice(0, room)
    if (keys.length > room) return more()
    room -= keys.length
  }
}

/** Prints keys as they are read; only one page is in memory at a time. Returns whether there are more. */
async function printPages(
  { print, terminal }: Context,
  store: StoreInspection,
  queue: string,
  filter: KeyFilter,
  limit: number,
): Promise<boolean> {
  let truncated = false
  const pages = firstOf(store.queue(queue), filter, limit, terminal.stdout.closed, () => {
    truncated = true
  })
  if (print.isDocument) {
    await print.listDocument({ head: { queue }, pages, tail: () => ({ truncated }) })
    return truncated
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
  return truncated
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
  json: '{ queue, keys: [{ key, state, item, priority, askedAt?, dueAt?, why?, laterAt?, readyAt?, failures, crashes, parked, held?: { holder?, token, leaseUntil?, dirtySince? }, failedAt?, lastError?: { name, message, code?, stack?, retryAfterMs? } }], truncated }',
  async run(context) {
    const { input, print, terminal } = context
    const queue = input.queue()
    const filter = keyFilterOf(input)
    const limit = input.flag('all') ? Infinity : (input.whole('limit', { min: 1 }) ?? limitDefault)
    const { inspection } = await context.store('existing')
    const inspect = await knownQueue(context, inspection, queue)
    let isMore = false
    if (limit > pageMax && !input.flag('watch')) {
      isMore = await printPages(context, inspection, queue, filter, limit)
    } else {
      await printWatched(context, {
        async look() {
          const keys: KeyInfo[] = []
          isMore = false
          for await (const page of firstOf(inspect, filter, limit, terminal.stdout.closed, () => {
            isMore = true
          })) {
            keys.push(...page)
          }
          const now = await inspection.now()
          return {
            rows: keys,
            columns: (paint) => keyColumns(paint, now),
            name: ({ key }) => key,
            document: () => ({ queue, keys, truncated: isMore }),
            none: `no such keys in ${shown(queue)}`,
          }
        },
        asJson: (info) => info,
      })
    }
    if (isMore) await print.note(`more than ${limit} keys match: see --limit and --all`)
  },
}
