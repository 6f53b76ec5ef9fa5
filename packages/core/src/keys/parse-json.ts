/** A string of JSON, its inside, and the colon that makes it the name of a member. */
const stringOrName: RegExp = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs

const token: RegExp = /\s*([{}[\],:]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}[\],:"]+)/gsy

function hasEscapedName(text: string): boolean {
  if (!text.includes('\\')) return false
  for (const [, inside, colon] of text.matchAll(stringOrName)) {
    if (colon !== undefined && inside?.includes('\\')) return true
  }
  return false
}

/** Reads a text that is known to be JSON; only strings and numbers go to the runtime's parser. */
class Reader {
  readonly #tokens: IterableIterator<RegExpMatchArray>

  constructor(text: string) {
    this.#tokens = text.matchAll(token)
  }

  #next(): string {
    return this.#tokens.next().value![1]!
  }

  value(first: string = this.#next()): unknown {
    if (first === '[') return this.#array()
    if (first === '{') return this.#object()
    return JSON.parse(first)
  }

  #array(): unknown[] {
    const array: unknown[] = []
    for (let next = this.#next(); next !== ']'; next = this.#next()) {
      if (next !== ',') array.push(this.value(next))
    }
    return array
  }

  #object(): object {
    const members: [string, unknown][] = []
    for (let next = this.#next(); next !== '}'; next = this.#next()) {
      if (next === ',') continue
      this.#next()
      members.push([JSON.parse(next), this.value()])
    }
    // Not by assignment, which would set the prototype for a member named __proto__.
    return Object.fromEntries(members)
  }
}

const string: RegExp = /"[^"\\]*(?:\\.[^"\\]*)*"/gs

/** Not a part of a fraction or of an exponent. */
const wholeNumber: RegExp = /(?<![\d.eE+-])-?\d+(?![\d.eE])/g

/**
 * The first whole number of `text`, which must be JSON, that `JSON.parse` reads as another number. Numbers
 * are doubles: beyond 2^53, most whole numbers are none, such as many ids.
 */
export function alteredNumber(text: string): string | undefined {
  const found = text.replace(string, '""').match(wholeNumber) ?? []
  return found.find((digits) => {
    const value = Number(digits)
    if (Number.isSafeInteger(value) || value === Infinity || value === -Infinity) return false
    // A double is often written with other digits than its own.
    return String(value) !== digits && BigInt(value) !== BigInt(digits)
  })
}

/**
 * The value of `text`, as `JSON.parse` ought to read it. Throws a `SyntaxError` if it is not JSON.
 *
 * V8 from 12.8 on, so Node 24 and 26, misreads a name with an escape in it where the object read
 * so far looks like one whose next member had a backslash in its name:
 * `JSON.parse('{"h":[],"\\\\":0}')` once, and `JSON.parse('{"h":1,"\\n":2}')` has a member named
 * `\` ever after (nodejs/node#63785). An item would not come back equal. A text with an escaped
 * name, which is rare, is therefore read by hand; any other costs one search for a backslash.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return hasEscapedName(text) ? new Reader(text).value() : value
}
