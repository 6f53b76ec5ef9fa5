import { SluiceTypeError } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { type OwnClient, PreparedQuery } from '../rows/prepared-query.ts'
import type { PgClient, Row } from './client-shapes.ts'
import type { Connection } from './connection.ts'
import { type ConnectionProbe, suspicionMs } from './connection-probe.ts'
import { withDeadline } from './deadline.ts'
import { trafficOf } from './destroy-socket.ts'
import type { Statement } from './statements.ts'

/** How a client is used. */
export interface ClientUse {
  readonly environment: Environment
  /** How long the server may be silent after a statement, and how long to wait for a connection. */
  readonly timeoutMs: number
  /** Asks the server about connections that are silent. */
  readonly probe?: ConnectionProbe | undefined
  /** Whether the clients are made by the `pg` that this package imports, with its own options. */
  readonly hasOwnClients?: boolean
}

/** Columns arrive as text, whatever parsers the program has set for its own queries. */
const asText = { getTypeParser: () => (text: string) => text }

/**
 * How many characters of a statement arrive in a millisecond over a slow network. The kernel takes megabytes at
 * once, and nothing shows when they are sent.
 */
const arrivalCharsPerMs = 250

/** How many whole seconds a statement with these values has been on its way, for as long as it may be. */
function secondsUnderWay(values: readonly unknown[], ms: number): number {
  if (ms < 1_000) return 0
  const chars = values.reduce<number>((sum, value) => sum + String(value).length, 0)
  return Math.floor(Math.min(ms, chars / arrivalCharsPerMs) / 1_000)
}

/** One client of `pg`. */
export class PgConnection implements Connection {
  readonly #client: PgClient
  readonly #use: ClientUse
  readonly #prepares: () => boolean

  constructor(client: PgClient, use: ClientUse, prepares: () => boolean) {
    this.#client = client
    this.#use = use
    this.#prepares = prepares
  }

  get backendId(): number | undefined {
    return this.#client.processID ?? undefined
  }

  async query(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const { name, text } = statement
    const isPrepared = name !== '' && this.#prepares()
    const own =
      this.#use.hasOwnClients === true ? (this.#client as unknown as OwnClient) : undefined
    if (isPrepared && own?.connection !== undefined) {
      return await this.#timed(PreparedQuery.send(own, statement, values), values)
    }
    if (this.#client.binary === true) {
      // No option of a query overrides that, and the driver would read wrong numbers.
      throw new SluiceTypeError('client', 'must read columns as text: leave out binary: true')
    }
    const query = { text, values: [...values], types: asText, ...(isPrepared && { name }) }
    return (await this.#timed(this.#client.query(query), values)).rows as Row[]
  }

  async script(text: string): Promise<void> {
    await this.#timed(this.#client.query({ text }))
  }

  #timed<T>(answer: Promise<T>, values: readonly unknown[] = []): Promise<T> {
    const { environment, timeoutMs, probe } = this.#use
    const client = this.#client
    const { clock } = environment
    const sentAt = clock.monotonicMs()
    return withDeadline(environment, timeoutMs, 'a statement', answer, {
      progress: () => trafficOf(client) + secondsUnderWay(values, clock.monotonicMs() - sentAt),
      suspicion: probe && {
        afterMs: suspicionMs,
        isLost: () => probe.isDone(client.processID, sentAt),
      },
    })
  }
}
