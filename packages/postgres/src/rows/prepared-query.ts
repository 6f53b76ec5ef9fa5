import type { Row } from '../connection/client-shapes.ts'
import type { Statement } from '../connection/statements.ts'

/** A query that sends its own messages, over the connection of a client of `pg`. */
interface PgSubmittable {
  submit(connection: PgConnectionLike): null
}

/** The messages that a client of `pg` can send. */
interface PgConnectionLike {
  readonly stream: { cork(): void; uncork(): void }
  /** The texts of the prepared statements, by their names. */
  readonly parsedStatements: Readonly<Record<string, string>>
  parse(message: { name: string; text: string }): void
  bind(message: {
    statement: string
    values: readonly unknown[]
    valueMapper: (value: unknown) => string | null
  }): void
  describe(message: { type: 'P' }): void
  execute(): void
  sync(): void
}

/** A client of the `pg` that this package imports. */
export interface OwnClient {
  query(query: PgSubmittable): unknown
  /** Missing in a client that is not written in JavaScript. */
  readonly connection?: object
}

/** The columns of statements that were described: their texts name them, so that they never change. */
const columnsOf = new WeakMap<Statement, readonly string[]>()

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}

type Callback = (error: unknown, rows: readonly Row[]) => void

/**
 * A prepared statement, as a query that a client of `pg` sends and reads: the objects that `pg` makes for
 * a query of its own, and a description of the columns with each answer, take as long as the rest of a
 * short call. All columns arrive as text.
 */
export class PreparedQuery implements PgSubmittable {
  /** The client notes by these which statements it has parsed. */
  readonly name: string
  readonly text: string
  /** The client replaces it if it limits the time of queries. */
  callback: Callback
  readonly #statement: Statement
  readonly #values: readonly unknown[]
  readonly #rows: Row[] = []

  private constructor(statement: Statement, values: readonly unknown[], callback: Callback) {
    this.name = statement.name
    this.text = statement.text
    this.callback = callback
    this.#statement = statement
    this.#values = values
  }

  /** Sends the statement over a client. */
  static send(
    client: OwnClient,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const query = new PreparedQuery(statement, values, (error, rows) => {
        if (error === null) resolve(rows)
        else reject(error)
      })
      client.query(query)
    })
  }

  submit(connection: PgConnectionLike): null {
    const { name, text } = this
    const { stream } = connection
    // One packet for all messages.
    stream.cork()
    if (connection.parsedStatements[name] === undefined) connection.parse({ name, text })
    connection.bind({ statement: name, values: this.#values, valueMapper: textOf })
    if (!columnsOf.has(this.#statement)) connection.describe({ type: 'P' })
    connection.execute()
    connection.sync()
    stream.uncork()
    return null
  }

  handleRowDescription({
    fields,
  }: {
    readonly fields: readonly { readonly name: string }[]
  }): void {
    columnsOf.set(
      this.#statement,
      fields.map(({ name }) => name),
    )
  }

  handleDataRow({ fields }: { readonly fields: readonly unknown[] }): void {
    const row: Record<string, unknown> = {}
    const columns = columnsOf.get(this.#statement) ?? []
    for (let at = 0; at < columns.length; at += 1) row[columns[at]!] = fields[at]
    this.#rows.push(row)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null, this.#rows)
  }

  handleError(error: unknown): void {
    this.callback(error, [])
  }
}
