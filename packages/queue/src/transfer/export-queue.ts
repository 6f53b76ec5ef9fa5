import { decodeItem, describeValue, nextTurn, SluiceTypeError } from '@sluice/core'
import { type TransferRow, transferRow } from '@sluice/core/driver'
import type { QueueCore } from '../core/queue-core.ts'
import { PageSize } from '../inspect/page-size.ts'
import { noPage } from '../inspect/queue-inspection.ts'
import { PlainQueue } from '../queue/plain-queue.ts'
import type { Queue } from '../queue/queue.ts'
import { damagedItem } from './damaged-item.ts'
import { leavingBucket, leavingInstant, leavingRow } from './transfer-instants.ts'
import { writeLine } from './transfer-lines.ts'
import { transferOf } from './transfer-of.ts'

/** The core of a queue of this package. */
export function coreOf<T>(queue: Queue<T>): QueueCore {
  if (queue instanceof PlainQueue) return (queue as PlainQueue<T>).core
  const message = `must be a queue of this copy of sluice; got ${describeValue(queue)}`
  throw new SluiceTypeError('queue', message)
}

/** An import refuses a copy with an item that is not JSON, perhaps when the queue is deleted already. */
function checkItem(queue: string, { key, item }: TransferRow): void {
  if (item === undefined) return
  try {
    decodeItem(key, item)
  } catch (cause) {
    const what = item === '' ? 'is lost' : 'is not JSON'
    throw damagedItem(queue, key, { what, call: 'export', cause })
  }
}

/**
 * Writes everything that is stored of a queue as lines of JSON, each with its line feed: a head,
 * the buckets of the store, the keys in their order, and an end, without which a copy is
 * incomplete.
 *
 * Instants are those of the wall clock. Changes nothing. Each key is written as it is when it is
 * its turn; a held key is written as if it had been released, so that a copy has every run that is
 * not finished. Pause the queue for a copy of one moment.
 *
 * Throws `ERR_STORE_DAMAGED` at a key of which the item is lost or is not JSON: no import would read the copy.
 */
export async function* exportQueue<T>(queue: Queue<T>): AsyncGenerator<string, void> {
  const core = coreOf(queue)
  const { calls } = core
  const { driver, name } = calls
  const transfer = transferOf('queue', driver)
  // Adds that were accepted are in the copy.
  await calls.inquire(() => core.backend.idle())
  // The answer also has the difference between the store's time and its wall clock. A tick would write, which
  // a role that may only read cannot do.
  const { now } = await calls.list(noPage)
  const lastToken = await calls.inquire(() => transfer.lastToken())
  const exportedAt = leavingInstant(driver, now)
  yield writeLine({ as: 'head', head: { queue: name, exportedAt, lastToken } })
  for (const bucket of await calls.inquire(() => driver.buckets?.() ?? [])) {
    yield writeLine({ as: 'bucket', bucket: leavingBucket(driver, bucket) })
  }
  const size = new PageSize(driver)
  let keys = 0
  let cursor: string | undefined
  do {
    const page = await calls.list({ cursor, limit: size.keys })
    size.fit(page.rows)
    for (const row of page.rows) {
      const leaving = leavingRow(driver, transferRow(row))
      checkItem(name, leaving)
      yield writeLine({ as: 'key', row: leaving })
    }
    keys += page.rows.length
    cursor = page.cursor
    // A store in this process answers at once, and would block it until the last key.
    await new Promise<void>(nextTurn)
  } while (cursor !== undefined)
  yield writeLine({ as: 'end', keys })
}
