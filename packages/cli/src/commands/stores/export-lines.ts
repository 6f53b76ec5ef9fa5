import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { manyWords } from '@sluice/core/words'
import { type CommandSpec, queueArgument } from '../../command.ts'
import { CommandError } from '../../command-error.ts'
import type { Context } from '../../context.ts'
import { exitCodes } from '../../exit-codes.ts'
import { shown } from '../../output/escape.ts'
import { refuseUnknown } from '../../stores/known-queue.ts'

/** The number of lines in one write. */
const linesMax = 500

/** A destination for lines. */
interface Sink {
  /** Whether it is a terminal, on which the data itself shows the progress. */
  readonly isSeen: boolean
  /** Aborted when its reader has gone. A file has none. */
  readonly closed?: AbortSignal
  write(text: string): Promise<void>
  end(): Promise<void>
}

function fileError(error: unknown): CommandError {
  const message = `the file cannot be written: ${(error as Error).message}`
  return new CommandError('ERR_FILE', message, exitCodes.failed, error)
}

async function fileSink(context: Context, path: string): Promise<Sink> {
  // What was deferred has run then, perhaps.
  context.signal.throwIfAborted()
  // Never overwrites a file: it may be the last backup. Opened before a key is read: once the stream has
  // failed, a write says only that it was destroyed.
  const opening = open(path, 'wx', 0o600).then((file) => {
    const stream = file.createWriteStream()
    const closed = finished(stream)
    closed.catch(() => {})
    return { stream, closed }
  })
  let isWhole = false
  // A part of a queue is no export, and the file would be in the way when the command is repeated.
  // Deferred before the file is open: an interruption may come meanwhile.
  context.defer(async () => {
    if (isWhole) return
    // If it cannot be opened, a file of that name is that of another program, and stays.
    const opened = await opening
    opened.stream.destroy()
    await opened.closed.catch(() => {})
    await rm(path, { force: true })
  })
  const { stream, closed } = await opening.catch((error: unknown) => {
    throw fileError(error)
  })
  return {
    isSeen: false,
    async write(text) {
      await new Promise<void>((done, fail) => {
        stream.write(text, (error) => (error ? fail(error) : done()))
      })
    },
    async end() {
      stream.end()
      await closed
      isWhole = true
    },
  }
}

export const exportLines: CommandSpec = {
  name: 'export',
  summary: 'Write a queue as lines of JSON',
  details:
    'Writes a header, the token buckets, every key, and a last line that marks the file as complete. With --file, a failure or an interruption leaves no file. Changes nothing; pause the queue for a snapshot of one moment.',
  group: 'Stores',
  positionals: [queueArgument],
  options: [
    { flags: '-f, --file <FILE>', summary: 'write to a new file instead of stdout', kind: 'file' },
  ],
  examples: [
    { line: 'sluice export orders > orders.ndjson', does: 'to a file' },
    { line: 'sluice export orders | gzip > orders.gz', does: 'to another program' },
  ],
  async run(context) {
    const { input, print, terminal } = context
    const queue = input.queue()
    const path = input.text('file')
    const store = await context.store('existing')
    await refuseUnknown(context, store.inspection, [queue])
    const { createQueue } = await import('sluice')
    const { exportQueue } = await import('sluice/transfer')
    const source = createQueue<never>({ name: queue, driver: store.driver })
    context.defer(() => source.close())
    const file =
      path === undefined ? undefined : await fileSink(context, resolve(terminal.cwd, path))
    const sink = file ?? {
      isSeen: terminal.stdout.isTTY,
      closed: terminal.stdout.closed,
      write: (text: string) => print.data(text),
      end: async () => {},
    }
    const keys = await writeAll(context, exportQueue(source), sink)
    if (keys === undefined) return
    await sink.end()
    await print.note(`${manyWords(keys, 'key')} of ${shown(queue)} written`)
  },
}

/** Writes all lines; returns the number of keys, or `undefined` if the reader has gone. */
async function writeAll(
  { print, signal }: Context,
  lines: AsyncIterable<string>,
  sink: Sink,
): Promise<number | undefined> {
  let count = 0
  let batch: string[] = []
  const flush = async (): Promise<void> => {
    const text = batch.join('')
    batch = []
    try {
      await sink.write(text)
    } catch (error) {
      if (error instanceof CommandError) throw error
      throw fileError(error)
    }
    if (!sink.isSeen) await print.progress(`${count} lines`)
  }
  for await (const line of lines) {
    signal.throwIfAborted()
    if (sink.closed?.aborted === true) return undefined
    if (line.startsWith('{"key"')) count += 1
    batch.push(line)
    if (batch.length >= linesMax) await flush()
  }
  await flush()
  return count
}
