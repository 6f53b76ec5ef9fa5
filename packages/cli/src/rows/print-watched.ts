import type { OptionSpec } from '../command.ts'
import type { Context } from '../context.ts'
import { safeJson, shown } from '../output/escape.ts'
import { fieldsOf } from '../output/fields.ts'
import type { Listing } from '../output/printer.ts'
import type { Table } from '../output/table.ts'
import { repeatedReads } from './repeated-reads.ts'
import { UnreadWarnings } from './unread-warnings.ts'

/** The options of commands that can watch. */
export const watchOptions: readonly OptionSpec[] = [
  { flags: '-w, --watch', summary: 'keep watching, and print changes' },
  { flags: '--interval <DURATION>', summary: 'the interval between reads (default: 2s)' },
]

/** A row that was printed. */
interface Printed {
  /** Undefined since its queue could not be read: the row is printed again when it can be. */
  readonly json: string | undefined
  readonly name: string
  readonly queue: unknown
}

/** Rows that can be watched. */
export interface Watched<Row> {
  /** Reads the current rows. */
  look(): Promise<Listing<Row>>
  /** A row for programs; a row is unchanged while its JSON is equal. */
  readonly asJson: (row: Row) => unknown
}

/**
 * Prints rows once, or with `--watch` until it is interrupted: each row again when it has changed,
 * and a line when it was deleted.
 */
export async function printWatched<Row>(context: Context, watched: Watched<Row>): Promise<void> {
  const { input, print, terminal } = context
  if (!input.flag('watch')) return await print.listing(await watched.look())
  const signal = AbortSignal.any([context.signal, terminal.stdout.closed])
  let table: Table<Row> | undefined
  let known = new Map<string, Printed>()
  const warnings = new UnreadWarnings(context)
  for await (const listing of repeatedReads(context, signal, () => watched.look())) {
    const { rows, name, id = name, unread } = listing
    if (table === undefined && rows.length === 0) await print.note(listing.none)
    table ??= print.table(listing.columns)
    const jsonOf = (row: Row): string => safeJson(watched.asJson(row))
    const now = new Map<string, Printed>(
      rows.map((row) => [id(row), { json: jsonOf(row), name: name(row), queue: queueOf(row) }]),
    )
    const changed = rows.filter((row) => known.get(id(row))?.json !== now.get(id(row))?.json)
    const hidden = new Set<unknown>(unread?.map(({ queue }) => queue))
    for (const [each, row] of known) {
      // What cannot be read is not gone.
      if (!now.has(each) && hidden.has(row.queue)) now.set(each, { ...row, json: undefined })
    }
    const gone = [...known].filter(([each]) => !now.has(each)).map(([, row]) => row.name)
    const { fields } = print
    if (fields !== undefined) {
      await print.lines(changed.map((row) => fieldsOf(watched.asJson(row), fields)))
    } else if (print.format === 'name') await print.names(changed.map(name))
    else if (print.isDocument) {
      const lines = changed.map((row) => `{"event":"row","row":${now.get(id(row))?.json}}`)
      await print.lines([...lines, ...gone.map((each) => safeJson({ event: 'gone', name: each }))])
    } else {
      if (changed.length > 0) await print.lines(table.lines(changed))
      for (const each of gone) await print.note(`${shown(each)} is gone`)
    }
    await warnings.warn(unread)
    known = now
  }
}

/** The queue of a row; rows of one queue have none. */
function queueOf(row: unknown): unknown {
  return (row as { readonly queue?: unknown }).queue
}
