import { SluiceError } from '@sluice/core'
import { number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** How many keys one script examines: the server does nothing else meanwhile. */
const scriptKeysMax = 1_000

/** How many keys have a row, are in the list of keys, and are in the sets of their states. */
const totals = `#!lua flags=no-writes
local one, sets = redis.call('HGET', KEYS[12], 'version') and 1 or 0, 0
for _, at in ipairs({5, 6, 7, 8, 10, 11}) do sets = sets + redis.call('ZCARD', KEYS[at]) - one end
return {redis.call('HLEN', KEYS[1]) - one, redis.call('ZCARD', KEYS[4]) - one, sets}`

/** What is wrong with the keys of a queue, in words; undefined if nothing is. */
export async function examine(store: Store, queue: string): Promise<string | undefined> {
  const { all, slot } = store.layout.of(queue)
  const wrong: string[] = []
  try {
    for (let from = '(', looked = scriptKeysMax; looked === scriptKeysMax; ) {
      const args = ['-1', '-1', 'keys', from, String(scriptKeysMax)]
      const reply = await store.run('list', queue, args)
      const [count = 0, last, ...names] = reply.slice(verbStart)
      looked = number(count)
      from = `(${last}`
      wrong.push(...names.map((name) => JSON.stringify(name)))
    }
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_STORE_DAMAGED')) throw error
    return error.message
  }
  if (wrong.length > 0) {
    const more = wrong.length > 3 ? ` and ${wrong.length - 3} more` : ''
    return `the rows of the keys ${wrong.slice(0, 3).join(', ')}${more} do not agree with the sets they are in`
  }
  const sizes = await store.read(slot, ['EVAL', totals, String(all.length), ...all])
  const [rows, listed, placed] = sizes as readonly number[]
  if (rows === listed && rows === placed) return undefined
  return `${rows} keys have a row, ${listed} are in the list, and ${placed} are in a set`
}
