// String.prototype.isWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import { checkKey, checkQueueName } from '@sluice/core'
import { type KeyStateWord, keyStateWords } from 'sluice'
import type { About, HistoryRange, KeyQuery } from '../wire.ts'
import { badInput } from './http-error.ts'

/** The maximum number of keys on one page of a list. */
const pageKeysMax = 200

/** The maximum length of a text by which keys are searched. */
const textMax = 512

/** The number of keys on a page when the request names no limit. */
const pageKeysDefault = 100

/** The validated query parameters of a request. */
export class Query {
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

  /** Whether the request asks for items, which are left out by default. */
  includes(name: 'item' | 'items'): boolean {
    return this.#text(name) === '1'
  }

  get queue(): string {
    return checkQueueName('queue', this.#text('queue'), { empty: this.#nameMayBeEmpty })
  }

  /** The queue, for views that are of every queue without one. */
  get queueIfAny(): string | undefined {
    return this.#query.has('queue') ? this.queue : undefined
  }

  get key(): string {
    return checkKey('key', this.#text('key'))
  }

  get about(): About {
    const about = this.#text('about')
    if (about === 'overview' || about === 'failures') return about
    if (about === 'queue' || about === 'key') return about
    throw badInput("about must be 'overview', 'failures', 'queue' or 'key'")
  }

  get range(): HistoryRange {
    const range = this.#text('range') ?? '5m'
    if (range === '5m' || range === '1h' || range === '24h') return range
    throw badInput("range must be '5m', '1h' or '24h'")
  }

  get cursor(): string | undefined {
    return this.#text('cursor')
  }

  get limit(): number {
    return this.#whole('limit', 1, pageKeysMax) ?? pageKeysDefault
  }

  /** The filter for keys. Empty parameters are ignored. */
  get keys(): KeyQuery {
    const failuresMin = this.#whole('failuresMin', 0, 2 ** 31)
    return keyQuery({
      ...optional('state', this.#text('state')),
      ...optional('prefix', this.#text('prefix')),
      ...optional('errorCode', this.#text('errorCode')),
      ...(failuresMin === undefined ? {} : { failuresMin }),
    })
  }
}

/** Throws unless every store can search for the text: some reject NUL and lone surrogates. */
function storable(name: string, text: string): string {
  if (!text.includes('\0') && text.isWellFormed()) return text
  throw badInput(`${name} must not contain NUL or half a surrogate pair`)
}

function optional(name: string, text: string | undefined): Record<string, string> {
  return text === undefined || text === '' ? {} : { [name]: text }
}

const keyQueryNames = new Set(['state', 'prefix', 'failuresMin', 'errorCode'])

/** Checks a filter for keys, from a query string or from a body. */
export function keyQuery(given: Readonly<Record<string, unknown>>): KeyQuery {
  for (const name of Object.keys(given)) {
    if (!keyQueryNames.has(name)) throw badInput(`keys cannot be filtered by ${name}`)
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
