/**
 * What this package uses of `pg` and of PGlite, as structures: whoever hands in a client need not
 * have the very same copy of either, and neither shows in our types.
 */

/** A row as it comes, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

/** What `pg` is asked. */
export interface PgQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Set: prepared under this name. */
  readonly name?: string
  /** How columns are read; ours are read as the text they come as. */
  readonly types?: { getTypeParser(): (text: string) => unknown }
}

/** A client of `pg`: `Client` or `PoolClient`. */
export interface PgClient {
  // Method syntax, so that the overloads of `pg` fit.
  query(query: PgQuery): Promise<{ rows: unknown[] }>
  /** What the server said its process was when the connection was made. */
  readonly processID?: number | null
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
  connect(): Promise<PgPoolClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: PgPoolClient) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'connect', listener: (client: PgPoolClient) => void): unknown
}

/** What can be sent to within a transaction of PGlite. */
export interface PgliteTransaction {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  exec(text: string): Promise<unknown>
}

/** PGlite, or whatever else speaks to one database over one connection as PGlite does. */
export interface PgliteLike extends PgliteTransaction {
  /** Does `work` within a transaction, while nobody else has the connection. */
  transaction<T>(work: (transaction: PgliteTransaction) => Promise<T>): Promise<T>
  /** How PGlite listens; without it, notices do not come from others. */
  listen?(
    channel: string,
    onNotify: (payload: string) => void,
  ): Promise<(() => Promise<void>) | unknown>
  /** Where it keeps its data; nowhere, if this is missing or says `memory://`. */
  readonly dataDir?: string | undefined
}

/** The connection that listens: a `Client` of `pg`. */
export interface PgListener extends PgClient {
  connect(): Promise<unknown>
  end(): Promise<void>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  unref?(): void
}

/** Whether something speaks as PGlite does, rather than as a client of `pg`. */
export function isPgliteLike(client: object): client is PgliteTransaction {
  return 'exec' in client && 'query' in client
}
