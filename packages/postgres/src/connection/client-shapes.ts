/**
 * The parts of `pg` and of PGlite that this package uses, as structures: a client may come from another
 * copy of either, and neither is part of the exported types.
 */

/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

/** A query for `pg`. */
export interface PgQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** If set, the statement is prepared under this name. */
  readonly name?: string
  /** How columns are read. */
  readonly types?: { getTypeParser(): (text: string) => unknown }
}

/** A client of `pg`: `Client` or `PoolClient`. */
export interface PgClient {
  // Method syntax, so that the overloads of `pg` fit.
  query(query: PgQuery): Promise<{ rows: unknown[] }>
  /** The process of the server, as it was announced when the connection was opened. */
  readonly processID?: number | null
  /** Whether it asks for columns in their binary form. */
  readonly binary?: boolean
  /** Whether it is connected, or about to be. `pg` shows that in no other way. */
  readonly _connected?: boolean
  readonly _connecting?: boolean
}

/** A client that was taken from a pool of `pg`. */
export interface PgPoolClient extends PgClient {
  release(error?: Error | boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool of `pg`. */
export interface PgPool {
  /** How many requests wait for a connection that is in use, not for one that is being opened. */
  readonly waitingCount?: number
  /** How many connections are open and not in use. */
  readonly idleCount?: number
  connect(): Promise<PgPoolClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: PgPoolClient) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'connect', listener: (client: PgPoolClient) => void): unknown
}

/** A transaction of PGlite. */
export interface PgliteTransaction {
  /** Sends a statement. With `parsers`, values of the types with these ids are what they make of their text. */
  query(
    text: string,
    values?: unknown[],
    options?: { readonly parsers: Record<number, (text: string) => unknown> },
  ): Promise<{ rows: unknown[] }>
  exec(text: string): Promise<unknown>
}

/** PGlite, or another client with one connection and the same methods. */
export interface PgliteLike extends PgliteTransaction {
  /** Does `work` within a transaction; other calls wait until it ends. */
  transaction<T>(work: (transaction: PgliteTransaction) => Promise<T>): Promise<T>
  /** Listens to a channel. Without it, no notices of other drivers arrive. */
  listen?(
    channel: string,
    onNotify: (payload: string) => void,
  ): Promise<(() => Promise<void>) | unknown>
  /** The folder of its data; missing or `memory://` if it is in memory. */
  readonly dataDir?: string | undefined
  /** Whether it was closed; it takes no more statements. */
  readonly closed?: boolean
}

/** The connection that listens: a `Client` of `pg`. */
export interface PgListener extends PgClient {
  readonly user?: string
  readonly host?: string
  readonly port?: number
  readonly database?: string
  connect(): Promise<unknown>
  end(): Promise<void>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect' | 'end', listener: () => void): unknown
  unref?(): void
}

/** Whether a client has the methods of PGlite rather than those of `pg`. */
export function isPgliteLike(client: object): client is PgliteTransaction {
  return 'exec' in client && 'query' in client
}
