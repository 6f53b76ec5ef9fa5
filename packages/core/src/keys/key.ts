// String.prototype.isWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import { checkString } from '../checks/check.ts'
import { quoted } from '../checks/describe-value.ts'
import { SluiceRangeError } from '../errors.ts'
import { keyBytesMax, queueNameBytesMax } from '../limits.ts'

/**
 * No code unit takes more than three bytes of UTF-8, so up to this length bytes need not be
 * counted.
 */
const keyUnitsSafe = Math.floor(keyBytesMax / 3)

/**
 * Whether a string is certainly a key; a string for which this is false may be one.
 *
 * 12 to 30 ns for twenty ASCII characters on Node 24, each of the last two tests half of it; a loop
 * over the characters takes 60, a regular expression 50. In this order, since a string that was
 * just put together from two is made one by \`includes\` at half of what \`charCodeAt\` takes for
 * that: 62 instead of 95 ns with all of what \`keyOfItem\` looks at. To measure again, time ten
 * million calls over a thousand keys and one over a million new ones, less the same loops without
 * the call.
 */
export function isSurelyKey(key: string): boolean {
  return key.length > 0 && key.length <= keyUnitsSafe && !key.includes('\0') && key.isWellFormed()
}

/**
 * Accepts a key: a string of 1 to 512 bytes of UTF-8 without NUL and without half a surrogate
 * pair. Anything else is allowed and means itself: nothing is trimmed, folded or normalized, so
 * that two keys are the same only if they are the same bytes.
 */
export function checkKey(parameter: string, key: unknown): string {
  if (typeof key === 'string' && isSurelyKey(key)) return key
  return checkString(parameter, key, { empty: false, bytesMax: keyBytesMax })
}

/**
 * The prefix of names that are not queues: under them, processes register in a store that share
 * work around a queue, such as reporting its metrics.
 */
export const bookNamePrefix = 'sluice:metrics:'

/** Rules for the name of a queue. */
export interface QueueNameRules {
  /** Whether `''` is allowed, as it is for a queue in memory. */
  readonly empty?: boolean
}

/**
 * Accepts a queue name: like a key, but at most 128 bytes, empty only where allowed, and without
 * {@link bookNamePrefix}, since what is stored under such a name is not listed or moved.
 */
export function checkQueueName(
  parameter: string,
  name: unknown,
  { empty = false }: QueueNameRules = {},
): string {
  const checked = checkString(parameter, name, { empty, bytesMax: queueNameBytesMax })
  if (!checked.startsWith(bookNamePrefix)) return checked
  throw new SluiceRangeError(
    parameter,
    `must not begin with '${bookNamePrefix}', which is reserved; got ${quoted(checked)}`,
  )
}
