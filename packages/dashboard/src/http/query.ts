// String.prototype.isWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import { checkKey, checkQueueName } from '@sluice/core'
import { type KeyStateWord, keyStateWords } from 'sluice'
import { badInput } from './http-error.ts'
import type { About, KeyQuery } from '../wire.ts'

/** The most keys that one page of a list has. */
export const pageKeysMax = 200

/** How long a text to find keys by may be. */
const textMax = 512

/** How many keys a page has if nobody says it. */
const pageKeysDefault = 100

/** What a request asks for, as its query says it. */
export class Question {
  readonly #query: URLSearchParams
  readonly #nameMayBeEmpty: boolean

  constructor(url: string, nameMayBeEmpty: boolean) {
    this.#query = new URL(url).searchParams
    this.#nameMayBeEmpty = nameMayBeEmpty
  }

  #text(name: string): string | undefined {
    const text = this.#query.get(name)
    return text === null ? undefined : storable(name, text)
  }

  #whole(name: string, min: number, max: number): number | undefined {
    const text = this.#text(name)
    if (text === undefined || text === '') return undefined
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw badInput(`${name} must be a whole number from ${min} to ${max}`)
    }
    return value
  }

  /** Whether something was asked for that is left out otherwise. */
  asksFor(name: 'item' | 'items'): boolean {
    return this.#text(name) === '1'
  }

  get queue(): string {
    return checkQueueName('queue', this.#text('queue'), { empty: this.#nameMayBeEmpty })
  }

  get key(): string {
    return checkKey('key', this.#text('key'))
  }

  get about(): About {
    const about = this.#text('about')
    if (about === 'overview' || about === 'queue' || about === 'key') return about
    throw badInput("about must be 'overview', 'queue' or 'key'")
  }

  get cursor(): string | undefined {
    return this.#text('cursor')
  }

  get limit(): number {
    return this.#whole('limit', 1, pageKeysMax) ?? pageKeysDefault
  }

  /** Which keys; what was left empty asks for nothing. */
  get keys(): KeyQuery {
    const failuresMin = this.#whole('failuresMin', 0, 2 ** 31)
    return keyQuery({
      ...filled('state', this.#text('state')),
      ...filled('prefix', this.#text('prefix')),
      ...filled('errorCode', this.#text('errorCode')),
      ...(failuresMin === undefined ? {} : { failuresMin }),
    })
  }
}

/** Holds for what a store can be asked for: not every store knows NUL, or half a character. */
function storable(name: string, text: string): string {
  if (!text.includes('\0') && text.isWellFormed()) return text
  throw badInput(`${name} must not contain NUL or half a surrogate pair`)
}

function filled(name: string, text: string | undefined): Record<string, string> {
  return text === undefined || text === '' ? {} : { [name]: text }
}

const keyQueryNames = new Set(['state', 'prefix', 'failuresMin', 'errorCode'])

/** Holds for a query for keys, however it came. */
export function keyQuery(given: Readonly<Record<string, unknown>>): KeyQuery {
  for (const name of Object.keys(given)) {
    if (!keyQueryNames.has(name)) throw badInput(`there is no ${name} to find keys by`)
  }
  const { state, prefix, failuresMin, errorCode } = given
  if (state !== undefined && !keyStateWords.includes(state as KeyStateWord)) {
    throw badInput(`state must be one of ${keyStateWords.join(', ')}`)
  }
  for (const [name, text] of Object.entries({ prefix, errorCode })) {
    if (text === undefined) continue
    if (typeof text !== 'string' || text.length > textMax) {
      throw badInput(`${name} must be a text of at most ${textMax} characters`)
    }
    storable(name, text)
  }
  if (
    failuresMin !== undefined &&
    !(Number.isSafeInteger(failuresMin) && Number(failuresMin) >= 0)
  ) {
    throw badInput('failuresMin must be a whole number, not below 0')
  }
  return given as KeyQuery
}
