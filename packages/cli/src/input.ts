import {
  alteredNumber,
  checkKey,
  checkQueueName,
  type KeyStateWord,
  keyOfItem,
  keyStateWords,
  parseJson,
} from '@sluice/core'
import { usageError } from './command-error.ts'
import { parseDuration } from './duration.ts'
import { oneLine } from './output/escape.ts'

/** The values of the options, by their long names in camelCase. */
export type OptionValues = Readonly<Record<string, unknown>>

/** The bounds of a number. */
export interface WholeLimits {
  readonly min: number
  readonly max?: number
}

/** The arguments and options, checked when they are read; a usage error names the argument. */
export class Input {
  readonly #positionals: readonly string[]
  readonly #options: OptionValues

  constructor(positionals: readonly string[], options: OptionValues) {
    this.#positionals = positionals
    this.#options = options
  }

  /** The positional at this index, if there is one. */
  positional(index: number): string | undefined {
    return this.#positionals[index]
  }

  /** The positionals from this index on. */
  positionals(from: number): readonly string[] {
    return this.#positionals.slice(from)
  }

  /** The first positional as the name of a queue. */
  queue(): string {
    return checkedQueue(this.#positionals[0] ?? '')
  }

  /** The first positional as the name of a queue; `undefined` if it is left out. */
  queueIfGiven(): string | undefined {
    return this.#positionals.length === 0 ? undefined : this.queue()
  }

  /** The positionals from this index on as keys. */
  keys(from: number): readonly string[] {
    return this.positionals(from).map((key) => checkedKey(key))
  }

  flag(name: string): boolean {
    return this.#options[name] === true
  }

  text(name: string): string | undefined {
    const value = this.#options[name]
    // As of a variable that is not set: `--prefix ''` must not mean every key, nor `-s ''` another store.
    if (value === '') throw usageError(`${flagOf(name)} is empty; give it a value, or leave it out`)
    return typeof value === 'string' ? value : undefined
  }

  texts(name: string): readonly string[] {
    const value = this.#options[name]
    return Array.isArray(value) ? value.map(String) : []
  }

  whole(name: string, { min, max }: WholeLimits): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text)
    const isWithin = value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)
    if (/^-?\d+$/.test(text) && isWithin) return value
    const bounds = max === undefined ? `not below ${min}` : `from ${min} to ${max}`
    throw usageError(`${flagOf(name)} must be a whole number ${bounds}; got '${oneLine(text)}'`)
  }

  durationMs(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : parseDuration(flagOf(name), text)
  }

  state(): KeyStateWord | undefined {
    const text = this.text('state')
    return keyStateWords.find((word) => word === text)
  }

  /** An option with a JSON value. */
  json(name: string): unknown {
    const text = this.text(name)
    return text === undefined ? undefined : parsedJson(flagOf(name), text)
  }
}

/** The flag of an option: `failuresMin` is `--failures-min`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Runs a check of core and turns its error into a usage error. */
function checked<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw usageError((error as Error).message.replace(/ \[ERR_[A-Z_]+\]$/, ''), error)
  }
}

/** Checks the name of a queue. */
export function checkedQueue(name: string): string {
  return checked(() => checkQueueName('QUEUE', name))
}

/** Checks a key. */
export function checkedKey(key: string): string {
  return checked(() => checkKey('KEY', key))
}

/** Checks an item that is its own key. */
export function checkedItem(item: unknown): unknown {
  checked(() => keyOfItem(item))
  return item
}

/** Parses JSON from the command line. */
export function parsedJson(name: string, text: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw usageError(`${name} must be JSON, such as '{"id":42}' or '"text"'`, error)
  }
  const altered = alteredNumber(text)
  if (altered === undefined) return value
  throw usageError(
    `${name} has the number ${altered}, which would become ${Number(altered)}; write it as a string`,
  )
}
