import { quoted } from '../checks/describe-value.ts'
import { isPromise } from '../checks/is-promise.ts'
import { SluiceError, SluiceRangeError, SluiceTypeError } from '../errors.ts'
import { itemBytesDefault, keyBytesMax } from '../limits.ts'
import { canonicalJson } from './canonical-json.ts'
import { checkKey, isSurelyKey } from './key.ts'
import { parseJson } from './parse-json.ts'
import { utf8Length } from './utf8-length.ts'

/** Marks a key that is the JSON text of its item. */
const jsonPrefix = 'json:'

function isMarked(key: string): boolean {
  // The first character decides for most keys, in a tenth of the time of a comparison.
  return key.charCodeAt(0) === 0x6a && key.startsWith(jsonPrefix)
}

/** Whether a string that is an item is its own key, if it can be a key. */
export function isOwnKey(item: string): boolean {
  return !isMarked(item)
}

/** Computes the key of an item that is more than its key; must always give the same key. */
export type KeyOf<T> = (item: T) => string

/** An item as it is stored. */
export interface EncodedItem {
  /** The key of the item. */
  readonly key: string
  /** The canonical JSON text of the item; `undefined` when the key already says it all. */
  readonly text: string | undefined
}

/** How items of a queue are encoded. */
export interface EncodeOptions<T> {
  /** Default: the key is the item, or its canonical JSON. */
  readonly keyOf?: KeyOf<T> | undefined
  /**
   * The longest text allowed, in bytes; a limit below {@link keyBytesMax} changes nothing. Default:
   * {@link itemBytesDefault}.
   */
  readonly itemBytesMax?: number | undefined
}

function keyOfText(text: string): string {
  const key = jsonPrefix + text
  const bytes = utf8Length(key)
  if (bytes <= keyBytesMax) return key
  throw new SluiceRangeError(
    'item',
    `must have a key of at most ${keyBytesMax} bytes, but its JSON makes one of ${bytes} bytes; ` +
      'give the queue a keyOf function',
  )
}

function keyBy<T>(item: T, keyOf: KeyOf<T>): string {
  let key: unknown
  try {
    key = keyOf(item)
  } catch (error) {
    throw new SluiceTypeError('keyOf(item)', 'must return a key, but threw', { cause: error })
  }
  // A promise is no key, and its rejection must not end the process.
  if (isPromise(key)) key.then(undefined, () => undefined)
  return checkKey('keyOf(item)', key)
}

/**
 * The key of `item`: a string is its own key, save that one starting with `json:` is keyed by
 * `json:` and its JSON text; any other JSON value is keyed by `json:` and its canonical JSON. So
 * two items have the same key exactly when they are equal.
 *
 * With `keyOf`, the key is what that returns, and the item itself is not looked at.
 *
 * Without `keyOf` the key gives the item: nothing else of it needs to be stored, and a caller can
 * do without {@link encodeItem} to save time.
 */
export function keyOfItem<T>(item: T, keyOf?: KeyOf<T>): string {
  if (keyOf !== undefined) return keyBy(item, keyOf)
  if (typeof item === 'string') {
    // In this order for speed: see isSurelyKey.
    const isKey = isSurelyKey(item)
    if (!isMarked(item)) return isKey ? item : checkKey('item', item)
  }
  return keyOfText(canonicalJson(item, 'item'))
}

/**
 * The parts of `item` that are stored: its key, and its text unless the key gives the item, as it
 * does without `keyOf`. {@link decodeItem} is the inverse.
 *
 * Throws a typed error, before `keyOf` is called, for a value that {@link canonicalJson} rejects
 * and for a text longer than `itemBytesMax`.
 */
export function encodeItem<T>(item: T, options: EncodeOptions<T> = {}): EncodedItem {
  const { keyOf } = options
  if (keyOf === undefined) return { key: keyOfItem(item), text: undefined }
  const bytesMax = Math.max(options.itemBytesMax ?? itemBytesDefault, keyBytesMax)
  const text = canonicalJson(item, 'item', bytesMax)
  const key = keyBy(item, keyOf)
  const isInKey = isMarked(key) ? key === jsonPrefix + text : key === item
  return { key, text: isInKey ? undefined : text }
}

/**
 * The item that was passed to {@link encodeItem}, as a new value.
 *
 * Throws `ERR_STORE_DAMAGED` for a text that is not JSON: only a damaged store, or a change by
 * another program, can cause that.
 */
export function decodeItem(key: string, text: string | undefined): unknown {
  if (text === undefined && !isMarked(key)) return key
  try {
    return parseJson(text ?? key.slice(jsonPrefix.length))
  } catch (error) {
    throw new SluiceError('ERR_STORE_DAMAGED', `the item of key ${quoted(key)} is not JSON`, {
      cause: error,
    })
  }
}
