import {
  type Awaitable,
  checkString,
  describeValue,
  type ImportOutcome,
  nextTurn,
  SluiceTypeError,
  type TransferRow,
} from '@sluice/core'
import { manyWords } from '@sluice/core/words'
import { whenFree } from '../driver/when-free.ts'
import type { Queue } from '../queue/queue.ts'
import { coreOf } from './export-queue.ts'
import { keysMaxOf, transferBatches } from './transfer-batches.ts'
import { enteringBucket, enteringRow } from './transfer-instants.ts'
import { readLine } from './transfer-lines.ts'
import { transferOf } from './transfer-of.ts'

/** The result of an import, in numbers of keys. */
export type ImportResult = Readonly<Record<ImportOutcome, number>>

function checkLines(lines: unknown): void {
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = Object(lines)
  if (typeof later === 'function' || typeof now === 'function') return
  throw new SluiceTypeError('lines', `must be iterable; got ${describeValue(lines)}`)
}

/**
 * Reads the lines of {@link exportQueue} into a queue and merges them with the keys that are there:
 * the earlier of two times, the higher of two priorities and counts, and an item that is there
 * stays.
 *
 * Fencing numbers continue above those of the export. Rejects for lines that are no export, naming
 * the line, and if the end is missing; the lines before it are in the queue then, and the same
 * import may be repeated. Pause the queue for keys to come out in their old order.
 */
export async function importQueue<T>(
  queue: Queue<T>,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<ImportResult> {
  const core = coreOf(queue)
  checkLines(lines)
  const { calls } = core
  const { driver, name, handle } = calls
  const { timeoutMs } = calls.options
  if (core.phase === 'closed') throw calls.closedError()
  const transfer = transferOf('queue', driver)
  const change = <R>(send: () => Awaitable<R>): Awaitable<R> =>
    calls.change(() => whenFree(timeoutMs, send))
  const result = { imported: 0, merged: 0, unchanged: 0 }
  let batch = new Map<string, TransferRow>()
  const flush = async (): Promise<void> => {
    const rows = [...batch.values()].map((row) => enteringRow(driver, row))
    batch = new Map()
    for (const some of transferBatches(rows, driver)) {
      const send = () => transfer.importRows(name, some)
      for (const outcome of await change(send)) result[outcome] += 1
    }
    // A store in this process answers at once, and would block it until the last line.
    await new Promise<void>(nextTurn)
  }
  let number = -1
  let keys = 0
  let expected: number | undefined
  try {
    for await (const text of lines) {
      number += 1
      checkString(`lines[${number}]`, text)
      if (text.trim() === '') continue
      const line = readLine(text, number)
      if (expected !== undefined || (line.as === 'head') !== (number === 0)) {
        throw new SluiceTypeError(
          `lines[${number}]`,
          'must not be here: an export has one head and one end',
        )
      }
      if (line.as === 'head') {
        // The answer has the difference between the store's time and its wall clock. Not before the iteration
        // has begun: `readLines` of Node loses the lines that come until then.
        await calls.inquire(() => core.backend.now())
        await change(() => transfer.raiseTokens(line.head.lastToken))
      } else if (line.as === 'bucket') {
        await change(() => transfer.importBuckets([enteringBucket(driver, line.bucket)]))
      } else if (line.as === 'end') expected = line.keys
      else {
        keys += 1
        if (batch.size >= keysMaxOf(driver) || batch.has(line.row.key)) await flush()
        batch.set(line.row.key, line.row)
      }
    }
  } finally {
    await flush()
    handle.wake(name)
  }
  if (expected === keys) return result
  const wrong =
    expected === undefined
      ? 'the last line is missing'
      : `its last line counts ${manyWords(expected, 'key')}`
  const came = `${manyWords(keys, 'key')} came, and ${keys === 1 ? 'is' : 'are'} imported`
  throw new SluiceTypeError('lines', `must be a whole export: ${wrong}; ${came}`)
}
