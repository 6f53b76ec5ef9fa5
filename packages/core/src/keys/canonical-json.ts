// String.prototype.isWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import { describeValue, quoted, shortened } from '../checks/describe-value.ts'
import { SluiceError, SluiceRangeError, SluiceTypeError } from '../errors.ts'
import { itemBytesMax, jsonDepthMax } from '../limits.ts'
import { utf8Length } from './utf8-length.ts'

type Step = string | number

/** A longer path is cut in the middle: its ends say more than its middle. */
const pathShownMax = 200

/** A string that JSON writes unchanged, between quotes: no quote, backslash, control character, surrogate. */
const plainText: RegExp = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

const plainName: RegExp = /^[A-Za-z_$][\w$]*$/

function renderStep(step: Step): string {
  if (typeof step === 'number') return `[${step}]`
  return plainName.test(step) && step.length <= 40
    ? `.${step}`
    : `["${shortened(step).replaceAll('"', '\\"')}"]`
}

function isPlainObjectPrototype(prototype: object | null): boolean {
  if (prototype === Object.prototype) return true
  // The Object.prototype of another realm: at the end of its chain, and with the methods of one.
  return (
    prototype !== null &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf')
  )
}

function isPlainArrayPrototype(prototype: object | null): boolean {
  if (prototype === Array.prototype) return true
  // The Array.prototype of another realm, which is an array itself.
  return Array.isArray(prototype) && Object.hasOwn(prototype, 'concat')
}

/** Below this, sorting by insertion is faster than the runtime's sort; 4 times so for 4 names. */
const insertionMax = 16

/** Sorts by code units, as RFC 8785 requires, in place. */
function sortNames(names: string[]): string[] {
  if (names.length > insertionMax) return names.sort()
  for (let index = 1; index < names.length; index += 1) {
    const name = names[index]!
    let hole = index
    while (hole > 0 && names[hole - 1]! > name) {
      names[hole] = names[hole - 1]!
      hole -= 1
    }
    names[hole] = name
  }
  return names
}

const advice: Readonly<Record<string, string>> = {
  'a Date': '; use its toISOString() or getTime()',
  'a Map': '; use Object.fromEntries()',
  'a Set': '; use an array',
  undefined: '; use null, or leave the member out',
  '-0': ', which JSON writes as 0',
}

class Writer {
  readonly #parameter: string
  readonly #bytesMax: number
  readonly #steps: Step[] = []
  readonly #ancestors: object[] = []
  #text = ''
  #depth = 0

  constructor(parameter: string, bytesMax: number) {
    this.#parameter = parameter
    this.#bytesMax = bytesMax
  }

  /** The canonical JSON of `value`, or a typed error. */
  write(value: unknown): string {
    try {
      this.#value(value)
    } catch (error) {
      if (SluiceError.is(error)) throw error
      // Only a proxy gets here: nothing else of what is done to a value can throw.
      throw new SluiceTypeError(this.#path(), 'cannot be read', { cause: error })
    }
    const bytes = utf8Length(this.#text)
    if (bytes > this.#bytesMax) this.#refuseSize(`${bytes} bytes`)
    return this.#text
  }

  #path(): string {
    const path = this.#steps.slice(0, this.#depth).map(renderStep).join('')
    if (path.length <= pathShownMax) return this.#parameter + path
    return `${this.#parameter}${path.slice(0, pathShownMax / 2)}…${path.slice(-pathShownMax / 2)}`
  }

  #refuse(problem: string): never {
    throw new SluiceTypeError(this.#path(), problem)
  }

  #refuseValue(value: unknown, what: string = describeValue(value)): never {
    this.#refuse(`must be a JSON value; got ${what}${advice[what] ?? ''}`)
  }

  #refuseSize(size = `more than ${itemBytesMax} bytes`): never {
    throw new SluiceRangeError(
      this.#parameter,
      `must be at most ${this.#bytesMax} bytes as JSON; got ${size}; ` +
        'store large data elsewhere, and refer to it',
    )
  }

  #refuseDepth(): never {
    throw new SluiceRangeError(
      this.#path(),
      `must not be nested deeper than ${jsonDepthMax} arrays and objects`,
    )
  }

  /** Refuses what goes on without end, or nearly so, with the most helpful reason. */
  #refuseEndless(reason: () => never): never {
    for (let depth = 1; depth <= this.#depth; depth += 1) {
      const ancestor = this.#ancestors[depth]
      if (ancestor === undefined || this.#ancestors.indexOf(ancestor) === depth) continue
      this.#depth = depth
      this.#refuse('must not be an object or array that contains it')
    }
    reason()
  }

  #append(text: string): void {
    this.#text += text
    // A small value can stand for a huge text, by holding one object in many places: stop in time.
    if (this.#text.length > itemBytesMax) this.#refuseEndless(() => this.#refuseSize())
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#string(value)
        return
      case 'number':
        if (!Number.isFinite(value) || Object.is(value, -0)) this.#refuseValue(value)
        this.#append(String(value))
        return
      case 'boolean':
        this.#append(value ? 'true' : 'false')
        return
      case 'object':
        if (value === null) this.#append('null')
        else this.#container(value)
        return
      default:
        this.#refuseValue(value)
    }
  }

  #string(text: string): void {
    // The test costs half of what JSON.stringify does, and most strings pass it.
    if (text.length <= itemBytesMax && plainText.test(text)) {
      this.#append(`"${text}"`)
      return
    }
    if (text.length > itemBytesMax) this.#refuseSize()
    if (!text.isWellFormed()) {
      throw new SluiceRangeError(
        this.#path(),
        `must not contain half a surrogate pair; got ${quoted(text)}`,
      )
    }
    this.#append(JSON.stringify(text))
  }

  #container(value: object): void {
    const depth = this.#depth
    this.#ancestors[depth] = value
    if (depth === jsonDepthMax) this.#refuseEndless(() => this.#refuseDepth())
    const prototype: object | null = Object.getPrototypeOf(value)
    if (Array.isArray(value)) {
      if (!isPlainArrayPrototype(prototype)) this.#refuseValue(value, 'an array of a subclass')
      this.#array(value)
    } else {
      if (prototype === null) {
        this.#refuseValue(value, 'an object without prototype; copy it with { ...it }')
      }
      if (!isPlainObjectPrototype(prototype)) this.#refuseInstance(value)
      this.#object(value)
    }
  }

  #refuseInstance(value: object): never {
    const what = describeValue(value)
    this.#refuseValue(value, what === 'an object' ? 'an object with a prototype of its own' : what)
  }

  #array(array: readonly unknown[]): void {
    const { length } = array
    // Two characters per element at least, so this needs no more than a look.
    if (length > itemBytesMax) this.#refuseSize()
    const depth = this.#depth
    this.#depth = depth + 1
    this.#append('[')
    for (let index = 0; index < length; index += 1) {
      this.#steps[depth] = index
      if (index > 0) this.#append(',')
      this.#checkMember(array, index)
      this.#value(array[index])
    }
    this.#append(']')
    this.#depth = depth
    this.#checkSymbols(array)
    const names = Object.keys(array)
    if (names.length !== length) {
      this.#refuse(
        `must have nothing but elements; got a member named ${quoted(names.at(-1)!)} too`,
      )
    }
  }

  #object(object: object): void {
    this.#checkSymbols(object)
    const names = sortNames(Object.keys(object))
    if (Object.hasOwn(object, 'toJSON') && !names.includes('toJSON')) {
      this.#refuseValue(object, 'an object with a toJSON method')
    }
    const depth = this.#depth
    this.#depth = depth + 1
    this.#append('{')
    let isFirst = true
    for (const name of names) {
      this.#steps[depth] = name
      if (!isFirst) this.#append(',')
      isFirst = false
      this.#checkMember(object, name)
      this.#string(name)
      this.#append(':')
      this.#value((object as Record<string, unknown>)[name])
    }
    this.#append('}')
    this.#depth = depth
  }

  #checkSymbols(object: object): void {
    // Hidden ones too: they mark what is no plain object, such as `arguments` and `Math`.
    if (Object.getOwnPropertySymbols(object).length === 0) return
    this.#refuse('must not have a member named by a symbol')
  }

  #checkMember(holder: object, name: Step): void {
    const member = Reflect.getOwnPropertyDescriptor(holder, name)
    if (member === undefined) this.#refuse('must not be a hole in an array; use null')
    if (!('value' in member)) this.#refuse('must be plain data; got a getter or setter')
  }
}

/**
 * The one text by which JSON writes `value`, as RFC 8785 defines it: members sorted by the code
 * units of their names, no spaces, numbers as ECMAScript prints them, nothing escaped that need
 * not be. Equal values have equal texts, and parsing the text gives a value that is strictly and
 * deeply equal to the one that came.
 *
 * A value that JSON cannot round-trip is refused with a typed error that names its path, such as
 * `item.a[3]["x y"]`: undefined, functions, symbols, bigints, `NaN`, infinities, -0, dates, every
 * other object that is not a plain object or a plain array, objects without a prototype, getters,
 * members named by symbols, holes, arrays with members other than their elements, cycles, and strings
 * or names with half a surrogate pair. The path is the error's `parameter`. The same goes
 * for more than {@link jsonDepthMax} levels and more than `bytesMax` bytes, at most {@link itemBytesMax}.
 *
 * Every property is read once, and nothing of the value is called: a `toJSON` makes it refused.
 * Members that are not enumerable are not seen, as in any comparison. A proxy is taken for what it
 * shows. Plain objects and arrays of another realm, as test runners make
 * them, are accepted, and come back as those of this realm.
 */
export function canonicalJson(
  value: unknown,
  parameter: string,
  bytesMax: number = itemBytesMax,
): string {
  return new Writer(parameter, bytesMax).write(value)
}
