// String.prototype.isWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
/**
 * The checks that every public entry point makes before it does anything else.
 *
 * Each returns the value, or throws an error that names `parameter`, the expected value and the
 * actual one: a `SluiceTypeError` for the wrong kind of value, a `SluiceRangeError` for the right
 * kind beyond its limits. None of them changes, copies or rounds anything.
 */

import { SluiceRangeError, SluiceTypeError } from '../errors.ts'
import { utf8Length } from '../keys/utf8-length.ts'
import { delayMsMax, priorityMax, priorityMin } from '../limits.ts'
import { describeValue, quoted, shortened } from './describe-value.ts'

/** The limits of a number. It must be finite in any case. */
export interface NumberLimits {
  /** The lowest number allowed. */
  readonly min?: number
  /** The highest number allowed. */
  readonly max?: number
  /** Every number allowed is higher than this. */
  readonly above?: number
  /** Whether it must be a whole number, and a safe one. */
  readonly integer?: boolean
}

function expectedNumber(limits: NumberLimits): string {
  const { min, max, above, integer } = limits
  const kind = integer === true ? 'a whole number' : 'a number'
  if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`
  const bounds: string[] = []
  if (min !== undefined) bounds.push(`not below ${min}`)
  if (above !== undefined) bounds.push(`above ${above}`)
  if (max !== undefined) bounds.push(`not above ${max}`)
  return bounds.length === 0 ? kind : `${kind} ${bounds.join(' and ')}`
}

/** Accepts a finite number within `limits`. `NaN` is the wrong kind, not out of range. */
export function checkNumber(parameter: string, value: unknown, limits: NumberLimits = {}): number {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    throw new SluiceTypeError(
      parameter,
      `must be ${expectedNumber(limits)}; got ${describeValue(value)}`,
    )
  }
  const { min = -Infinity, max = Infinity, above = -Infinity, integer = false } = limits
  const isEndless = !Number.isFinite(value)
  const isWithin = !isEndless && value >= min && value <= max && value > above
  if (!isWithin || (integer && !Number.isSafeInteger(value))) {
    const addition = isEndless ? ', and finite' : ''
    throw new SluiceRangeError(
      parameter,
      `must be ${expectedNumber(limits)}${addition}; got ${describeValue(value)}`,
    )
  }
  return value
}

/**
 * Accepts a delay in milliseconds: a finite number, at most ten years. Zero and less are allowed
 * and mean at once.
 */
export function checkDelay(parameter: string, ms: unknown): number {
  if (typeof ms === 'number' && ms <= delayMsMax && ms > -Infinity) return ms
  if (typeof ms !== 'number' || Number.isNaN(ms)) {
    throw new SluiceTypeError(
      parameter,
      `must be a number of milliseconds; got ${describeValue(ms)}`,
    )
  }
  throw new SluiceRangeError(
    parameter,
    `must be finite and at most ${delayMsMax} ms, which is ten years; got ${ms}`,
  )
}

/** Accepts a priority: a whole number from -1000 to 1000. */
export function checkPriority(parameter: string, priority: unknown): number {
  return checkNumber(parameter, priority, { min: priorityMin, max: priorityMax, integer: true })
}

/** Accepts `true` and `false` only, no truthy or falsy value. */
export function checkBoolean(parameter: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new SluiceTypeError(parameter, `must be true or false; got ${describeValue(value)}`)
}

/** The limits of a string. */
export interface StringLimits {
  /** The longest allowed, in bytes of UTF-8. */
  readonly bytesMax?: number
  /** Whether `''` is allowed. It is unless this says `false`. */
  readonly empty?: boolean
}

/**
 * Accepts a string within `limits`, without NUL and without half a surrogate pair: not every store can
 * hold or compare those, as Postgres has no NUL, and UTF-8 no half surrogate pairs.
 */
export function checkString(parameter: string, value: unknown, limits: StringLimits = {}): string {
  if (typeof value !== 'string') {
    throw new SluiceTypeError(parameter, `must be a string; got ${describeValue(value)}`)
  }
  if (value === '' && limits.empty === false) {
    throw new SluiceRangeError(parameter, 'must not be empty')
  }
  const { bytesMax } = limits
  if (bytesMax !== undefined) {
    const bytes = utf8Length(value)
    if (bytes > bytesMax) {
      throw new SluiceRangeError(
        parameter,
        `must be at most ${bytesMax} bytes of UTF-8; got ${bytes} bytes, ${quoted(value)}`,
      )
    }
  }
  if (value.includes('\0')) {
    throw new SluiceRangeError(parameter, `must not contain a NUL character; got ${quoted(value)}`)
  }
  if (!value.isWellFormed()) {
    throw new SluiceRangeError(
      parameter,
      `must not contain half a surrogate pair; got ${quoted(value)}`,
    )
  }
  return value
}

/** Accepts any function. */
export function checkFunction<F>(parameter: string, value: F): F {
  if (typeof value === 'function') return value
  throw new SluiceTypeError(parameter, `must be a function; got ${describeValue(value)}`)
}

/** The edit distance of two names, where a swap of neighbours counts once. */
function slipsBetween(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      let slips = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        slips = Math.min(slips, beforeLast[j - 2]! + 1)
      }
      row.push(slips)
    }
    beforeLast = last
    last = row
  }
  return last[to.length]!
}

/** The one of `known` that is most similar to `name`. */
export function closest(name: string, known: readonly string[]): string | undefined {
  // No option has a name this long, and the time of the comparison grows with its square.
  if (name.length > 64) return undefined
  const meant = name.toLowerCase()
  let best: string | undefined
  let fewest = Math.floor(meant.length / 3) + 1
  for (const candidate of known) {
    const other = candidate.toLowerCase()
    // The most likely mistake is to leave out the unit: `lease` for `leaseMs`.
    const isStart = other.startsWith(meant)
    const slips = isStart ? Math.min(1, other.length - meant.length) : slipsBetween(meant, other)
    if (slips < fewest) {
      best = candidate
      fewest = slips
    }
  }
  return best
}

function suggestion(name: string, known: readonly string[]): string {
  const best = closest(name, known)
  if (best !== undefined) return `did you mean '${best}'?`
  return known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`
}

/**
 * Accepts an object, such as options, all of whose own members are among `known`. An unknown name
 * is rejected with the most similar known one, because an option that is silently ignored is
 * noticed too late. A member that is `undefined` counts as absent, whatever its name.
 *
 * A member of `options` is named alone, as its caller writes it; that of another object after the object.
 */
export function checkObject<O>(parameter: string, value: O, known?: readonly string[]): O & object {
  // A signal in place of `{ signal }` has no own members, and would be ignored.
  if (typeof value !== 'object' || value === null || Array.isArray(value) || 'aborted' in value) {
    throw new SluiceTypeError(parameter, `must be an object; got ${describeValue(value)}`)
  }
  if (known === undefined) return value
  for (const name of Object.keys(value)) {
    if (known.includes(name) || (value as Readonly<Record<string, unknown>>)[name] === undefined) {
      continue
    }
    const got = describeValue(value)
    // Of an object of a class, such as a queue in place of `{ queue }`, no single member is the mistake.
    if (got !== 'an object' && closest(name, known) === undefined) {
      const message = `must be an object of options, of which ${suggestion(name, known)}; got ${got}`
      throw new SluiceTypeError(parameter, message)
    }
    const path = parameter === 'options' ? '' : `${parameter}.`
    throw new SluiceTypeError(
      path + shortened(name),
      `is not a known option; ${suggestion(name, known)}`,
    )
  }
  return value
}

/** Accepts an `AbortSignal`, also of another realm or of a library with its own class. */
export function checkSignal(parameter: string, value: unknown): AbortSignal {
  const signal = value as AbortSignal | null | undefined
  if (
    typeof signal === 'object' &&
    signal !== null &&
    typeof signal.aborted === 'boolean' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  ) {
    return signal
  }
  throw new SluiceTypeError(parameter, `must be an AbortSignal; got ${describeValue(value)}`)
}

/** Accepts one of the words in `allowed`. */
export function checkOneOf<Word extends string>(
  parameter: string,
  value: unknown,
  allowed: readonly Word[],
): Word {
  const found = allowed.find((word) => word === value)
  if (found !== undefined) return found
  const words = allowed.map((word) => `'${word}'`).join(' or ')
  const message = `must be ${words}; got ${describeValue(value)}`
  if (typeof value !== 'string') throw new SluiceTypeError(parameter, message)
  throw new SluiceRangeError(parameter, message)
}
