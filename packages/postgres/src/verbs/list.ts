import { type KeyRow, keyStateWords, type ListReply, type ListRequest } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number, text } from '../rows/columns.ts'
import { storedKey } from '../rows/key-row.ts'

/** How many keys one page looks at, so that a page of a rare state is not a search through all of the queue. */
const looksMax = 10_000

/** The verb list. */
export async function list(
  store: Store,
  queue: string,
  { keys, state, prefix = '', cursor = '', limit }: ListRequest,
): Promise<ListReply> {
  const moment = store.time.moment()
  const rows = await store.run('list', [
    queue,
    keys === undefined ? null : arrayLiteral([...new Set(keys)]),
    state === undefined ? null : keyStateWords.indexOf(state),
    prefix,
    cursor,
    limit,
    Math.max(looksMax, limit),
    moment.now,
    moment.least,
  ])
  const found: KeyRow[] = []
  let now = 0
  let next: string | undefined
  for (const row of rows) {
    if (text(row['key']) === undefined) {
      now = number(row['now'])
      store.time.noteRow(row, moment)
      next = text(row['next'])
      continue
    }
    const { key, state: keyState, item, holder, lastError } = storedKey(row)
    const word = keyStateWords[number(row['word'])] ?? 'idle'
    if (keys !== undefined && !key.startsWith(prefix)) continue
    found.push({ ...keyState, key, state: word, item, holder, lastError })
  }
  return { now, rows: found, ...(next !== undefined && { cursor: next }) }
}
