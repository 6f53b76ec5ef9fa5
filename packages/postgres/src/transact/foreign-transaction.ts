import { SluiceTypeError } from '@sluice/core'
import type { Row } from '../connection/client-shapes.ts'
import type { Connection } from '../connection/connection.ts'
import { withDeadline } from '../connection/deadline.ts'
import { sqlStateOf } from '../connection/errors.ts'
import type { PoolUse } from '../connection/pool-connections.ts'
import type { Statement } from '../connection/statements.ts'

/**
 * A transaction of any library: sends one statement without parameters, and returns its rows, as an
 * array or in `rows`. Adapt a library that is not known here with `{ query: (text) => … }`.
 */
export interface TextTransaction {
  query(text: string): Promise<unknown>
}

/** Sends one statement in the transaction of another library. */
export type SendText = (text: string) => Promise<unknown>

/** A value with methods of any name. */
interface Methods {
  readonly [name: string]: ((...values: unknown[]) => Promise<unknown>) | undefined
}

function has(transaction: object, name: string): boolean {
  return typeof (transaction as Methods)[name] === 'function'
}

/**
 * How to send a statement in the transaction of a library that is recognized by its public methods;
 * `undefined` for a client of `pg`, for PGlite, and for anything else.
 */
export function sendTextOf(transaction: object): SendText | undefined {
  const call = async (name: string, ...values: unknown[]): Promise<unknown> =>
    await (transaction as Methods)[name]?.(...values)
  // Kysely. What its compiler makes of a raw statement.
  if (has(transaction, 'executeQuery')) {
    return (sql) => {
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] }
      return call('executeQuery', { sql, query, parameters: [], queryId: { queryId: 'sluice' } })
    }
  }
  // Prisma; postgres.js; Knex; Drizzle.
  for (const name of ['$queryRawUnsafe', 'unsafe', 'raw', 'execute']) {
    if (has(transaction, name)) return (text) => call(name, text)
  }
  const isPg = has(transaction, 'escapeLiteral') || 'processID' in transaction
  // TypeORM, or an adapter.
  if (has(transaction, 'query') && !isPg) return (text) => call('query', text)
  return undefined
}

/** Characters that libraries take for parameters, and those that end a text. */
const special = /['\\?:$]/g

/**
 * A value as SQL text, which the statement casts to its type. Whatever the settings of the session are,
 * an E'' text reads backslashes in the same way.
 */
export function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  const escaped = String(value).replaceAll(
    special,
    (character) => `\\x${character.charCodeAt(0).toString(16)}`,
  )
  return `E'${escaped}'`
}

/** A statement with its values in place of its parameters. */
export function withValues(text: string, values: readonly unknown[]): string {
  return text.replaceAll(/\$(\d+)/g, (_, number: string) => literalOf(values[Number(number) - 1]))
}

/** What a row begins with, which is JSON otherwise: some libraries parse a value that looks like JSON. */
const mark = '='

/**
 * A statement that answers with each row as one text, since options and plugins of libraries rename
 * columns and convert values.
 */
function asTexts(text: string): string {
  const row = `pg_catalog.concat('${mark}', pg_catalog.row_to_json(found))`
  return `select ${row} as found from (${text}) as found`
}

/** Reads a row of such a statement, whatever its only column is called by now. */
function rowOf(row: unknown): Row {
  const [found] = typeof row === 'object' && row !== null ? (Object.values(row) as unknown[]) : []
  if (typeof found !== 'string' || !found.startsWith(mark)) throw wrongAnswer()
  return JSON.parse(found.slice(mark.length)) as Row
}

/** Every statement has an answer. Without it, keys that exist would be taken for new ones. */
function wrongAnswer(): SluiceTypeError {
  return new SluiceTypeError(
    'transaction',
    'must be an object whose query resolves to the rows of the statement, or to an object with rows',
  )
}

/**
 * The transaction of another library as a connection. Libraries differ in how they pass parameters and
 * arrays, so statements contain their values as text.
 */
export class ForeignTransaction implements Connection {
  readonly #send: SendText
  readonly #use: PoolUse

  constructor(send: SendText, use: PoolUse) {
    this.#send = send
    this.#use = use
  }

  async query({ text }: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const answer = await this.#timed(withValues(asTexts(text), values))
    const rows = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | undefined)?.rows
    if (Array.isArray(rows) && rows.length > 0) return rows.map(rowOf)
    throw wrongAnswer()
  }

  /** Libraries that prepare everything send one statement at a time. */
  async script(text: string): Promise<void> {
    for (const statement of text.split('; ')) await this.#timed(statement)
  }

  async #timed(text: string): Promise<unknown> {
    const { environment, timeoutMs } = this.#use
    try {
      return await withDeadline(environment, timeoutMs, 'a statement', this.#send(text))
    } catch (error) {
      throw serverError(error) ?? error
    }
  }
}

/** The error of the server within that of a library, which may have a code of its own. */
function serverError(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined
  const { cause, driverError, original, driverAdapterError, meta, originalCode, originalMessage } =
    error as Readonly<Record<string, unknown>>
  for (const inner of [cause, driverError, original, driverAdapterError, meta]) {
    const found = serverError(inner, depth + 1)
    if (found !== undefined) return found
  }
  // Prisma's driver adapters.
  if (typeof originalCode === 'string') {
    return Object.assign(new Error(String(originalMessage ?? 'the server refused the statement')), {
      code: originalCode,
      severity: 'ERROR',
      cause: error,
    })
  }
  return 'severity' in error && sqlStateOf(error) !== undefined ? error : undefined
}
