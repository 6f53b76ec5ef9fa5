import { SluiceError } from '@sluice/core'
import type { PgliteLike, PgliteTransaction, Row } from './client-shapes.ts'
import { type Connection, type Connections, type RunOptions, settingsText } from './connection.ts'
import { withDeadline } from './deadline.ts'
import { storeError } from './errors.ts'
import type { PoolUse } from './pool-connections.ts'
import type { Statement } from './statements.ts'

/** The types of columns, by their ids: boolean, bigint, smallint, integer, text, json, double and numeric. */
const typeIds = [16, 20, 21, 23, 25, 114, 701, 1700, 3802]

/** Columns arrive as text, whatever parsers the program has set for its own queries. */
const asText = {
  parsers: Object.fromEntries(typeIds.map((id) => [id, (text: string) => text])),
}

/** PGlite, or one of its transactions, as a connection. */
export class PgliteConnection implements Connection {
  readonly #client: PgliteTransaction
  readonly #use: PoolUse

  constructor(client: PgliteTransaction, use: PoolUse) {
    this.#client = client
    this.#use = use
  }

  async query({ text }: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#timed(this.#client.query(text, [...values], asText))).rows as Row[]
  }

  async script(text: string): Promise<void> {
    await this.#timed(this.#client.exec(text))
  }

  #timed<T>(answer: Promise<T>): Promise<T> {
    const { environment, timeoutMs } = this.#use
    return withDeadline(environment, timeoutMs, 'a statement', answer)
  }
}

/** The only connection of PGlite, which runs its callers one after another. */
export class SingleConnection implements Connections {
  readonly #client: PgliteLike
  readonly #use: PoolUse
  /** Whether the statement was sent that goes first. */
  #isBegun = false

  constructor(client: PgliteLike, use: PoolUse) {
    this.#client = client
    this.#use = use
  }

  // There is no network in between, so no statement needs a shorter deadline than others.
  async run(
    statement: Statement,
    values: readonly unknown[],
    { first }: RunOptions = {},
  ): Promise<readonly Row[]> {
    return await this.connected(async (connection) => {
      if (first !== undefined && !this.#isBegun) {
        await connection.query(first.statement, first.values)
        this.#isBegun = true
      }
      return await connection.query(statement, values)
    })
  }

  async connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#checkOpen()
    try {
      return await work(new PgliteConnection(this.#client, this.#use))
    } catch (error) {
      throw storeError(error, 'sent')
    }
  }

  async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#checkOpen()
    let isCommitting = false
    try {
      return await this.#client.transaction(async (transaction) => {
        const connection = new PgliteConnection(transaction, this.#use)
        await connection.script(`set transaction isolation level read committed; ${settingsText}`)
        const answer = await work(connection)
        isCommitting = true
        return answer
      })
    } catch (error) {
      throw storeError(error, isCommitting ? 'sent' : 'unsent')
    }
  }

  readonly usesTransactions = false

  useTransactions(): void {}

  stopPreparing(): void {}

  async close(): Promise<void> {
    await this.#use.end?.()
  }

  // A closed client sends nothing, so the outcome is known; and it is never opened again.
  #checkOpen(): void {
    if (this.#client.closed !== true) return
    throw new SluiceError(
      'ERR_STORE',
      'the statement was not sent: the PGlite client was closed; close queues before their client',
    )
  }
}
