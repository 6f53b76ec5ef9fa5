import { SluiceError } from '@sluice/core'
import { number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** How many keys one script examines: the server does nothing else meanwhile. */
const scriptKeysMax = 1_000

/**
 * How many keys have a row, are in the list of keys, and are in the sets of their states; and whether the queue
 * has its description.
 */
const totals = `#!lua flags=no-writes
local one, sets = redis.call('HGET', KEYS[12], 'version') and 1 or 0, 0
for _, at in ipairs({5, 6, 7, 8, 10, 11}) do sets = sets + redis.call('ZCARD', KEYS[at]) - one end
return {redis.call('HLEN', KEYS[1]) - one, redis.call('ZCARD', KEYS[4]) - one, sets, one}`

/** What is to be done where a row or a set is wrong. */
const repair = 'stop what uses it, export it, purge it, and import what was exported'

/** The first keys of several, in words. */
function some(keys: readonly string[]): string {
  const more = keys.length > 3 ? ` and ${keys.length - 3} more` : ''
  return `${keys.slice(0, 3).join(', ')}${more}`
}

/** What is wrong with the keys of a queue and what to do about it, in words; undefined if nothing is wrong. */
export async function examine(store: Store, queue: string): Promise<string | undefined> {
  const { all, slot } = store.layout.of(queue)
  const wrong: string[] = []
  const withoutItem: string[] = []
  try {
    for (let from = '(', looked = scriptKeysMax; looked === scriptKeysMax; ) {
      const args = ['-1', '-1', 'keys', from, String(scriptKeysMax)]
      const reply = await store.run('list', queue, args)
      const [count = 0, last, ...found] = reply.slice(verbStart)
      looked = number(count)
      from = `(${last}`
      for (const text of found as readonly string[]) {
        const keys = text.startsWith('i') ? withoutItem : wrong
        keys.push(JSON.stringify(text.slice(1)))
      }
    }
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_STORE_DAMAGED')) throw error
    return `${error.message}; ${repair}`
  }
  // An export ends at such a key.
  const lost = `the items of the keys ${some(withoutItem)} are lost; add each with its item, or remove it`
  const broken = await disagreement(store, slot, all, wrong)
  if (broken === undefined) return withoutItem.length > 0 ? lost : undefined
  return withoutItem.length > 0 ? `${lost}; ${broken}; then ${repair}` : `${broken}; ${repair}`
}

/** How rows and sets disagree; undefined if they do not. */
async function disagreement(
  store: Store,
  slot: string,
  all: readonly string[],
  wrong: readonly string[],
): Promise<string | undefined> {
  if (wrong.length > 0) {
    return `the rows of the keys ${some(wrong)} do not agree with the sets they are in`
  }
  const sizes = await store.read(slot, ['EVAL', totals, String(all.length), ...all])
  const [rows, listed, placed, described] = sizes as readonly number[]
  if (described === 0 && rows !== 0) return `the Redis key ${all[11]} is missing`
  if (rows === listed && rows === placed) return undefined
  return `${rows} keys have a row, ${listed} are in the list, and ${placed} are in a set`
}
