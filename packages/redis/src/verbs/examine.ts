import { SluiceError } from '@sluice/core'
import { number } from '../rows/columns.ts'
import { wrongTypes } from '../script-error.ts'
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

/** What is to be done where there is nothing left that an export, or a change, could begin with. */
const lastResort =
  'stop what uses it, save what `sluice ls --all -o json` prints, purge it, and add its keys'

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
  const mistyped = await wrongTypes(store, queue)
  if (mistyped !== undefined) return `${mistyped}, then run doctor again`
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
  const sizes = await store.read(slot, ['EVAL', totals, String(all.length), ...all])
  const [rows = 0, listed, placed, described] = sizes as readonly number[]
  const undescribed =
    described === 0 && rows !== 0 ? `the Redis key ${all[11]} is missing` : undefined
  const broken = undescribed ?? disagreement([rows, listed, placed], wrong)
  if (withoutItem.length === 0) return broken === undefined ? undefined : `${broken}; ${repair}`
  // An export ends at such a key.
  const lost = `the items of the keys ${some(withoutItem)} are lost`
  // Nothing can be added then, or removed.
  if (undescribed !== undefined) return `${lost}; ${undescribed}; ${lastResort}`
  const restore = `${lost}; add each with its item, or remove it`
  return broken === undefined ? restore : `${restore}; ${broken}; then ${repair}`
}

/** How rows and sets disagree; undefined if they do not. */
function disagreement(
  [rows, listed, placed]: readonly (number | undefined)[],
  wrong: readonly string[],
): string | undefined {
  if (wrong.length > 0) {
    return `the rows of the keys ${some(wrong)} do not agree with the sets they are in`
  }
  if (rows === listed && rows === placed) return undefined
  return `${rows} keys have a row, ${listed} are in the list, and ${placed} are in a set`
}
