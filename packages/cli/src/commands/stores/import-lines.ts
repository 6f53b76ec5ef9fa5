import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type CommandSpec, queueArgument } from '../../command.ts'
import type { Context } from '../../context.ts'
import { linesOf, unreadable } from '../../lines-of.ts'
import { shown } from '../../output/escape.ts'

/** The lines of a file, which is open by then: of one that is missing, no line would be asked for. */
async function linesOfFile(context: Context, path: string): Promise<AsyncIterable<string>> {
  const file = await open(path).catch((error: unknown) => {
    throw unreadable('the file', error)
  })
  context.defer(() => file.close())
  return linesOf('the file', file.createReadStream())
}

export const importLines: CommandSpec = {
  name: 'import',
  summary: 'Read an export into a queue',
  details:
    'Existing keys are merged: the earlier of two times and the higher of two priorities and counts win, and existing items are kept. Safe to repeat. Creates a missing SQLite file.',
  group: 'Stores',
  positionals: [
    queueArgument,
    { name: 'FILE', summary: 'the file to read (default: stdin)', kind: 'file', optional: true },
  ],
  examples: [
    { line: 'sluice import orders orders.ndjson', does: 'from a file' },
    { line: 'sluice export orders | sluice import orders -s sqlite:./copy.db', does: 'a pipe' },
  ],
  json: '{ queue, imported, merged, unchanged }',
  async run(context) {
    const { input, print, terminal } = context
    const queue = input.queue()
    const file = input.positional(1)
    const lines =
      file === undefined || file === '-'
        ? terminal.stdin.lines()
        : await linesOfFile(context, resolve(terminal.cwd, file))
    const store = await context.store('create')
    const { createQueue } = await import('sluice')
    const { importQueue } = await import('sluice/transfer')
    const target = createQueue<never>({ name: queue, driver: store.driver })
    context.defer(() => target.close())
    const result = await importQueue(target, counted(context, lines))
    await print.endProgress()
    if (print.isDocument) await print.document({ queue, ...result })
    else {
      const { imported, merged, unchanged } = result
      const what = `${imported} imported, ${merged} merged, ${unchanged} unchanged`
      await print.lines([`${shown(queue)}: ${what}`])
    }
  },
}

async function* counted(
  { print, signal }: Context,
  lines: AsyncIterable<string>,
): AsyncGenerator<string> {
  let count = 0
  for await (const line of lines) {
    signal.throwIfAborted()
    yield line
    count += 1
    if (count % 1_000 === 0) await print.progress(`${count} lines`)
  }
}
