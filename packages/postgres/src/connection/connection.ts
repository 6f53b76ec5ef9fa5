import type { Row } from './client-shapes.ts'
import type { Statement } from './statements.ts'

/** One connection to the database, while one caller uses it. */
export interface Connection {
  /** The process of the server that was announced when the connection was opened, if that is known. */
  readonly backendId?: number | undefined
  /**
   * In the caller's transaction: how long to wait for the row of a key where the session has no `lock_timeout`.
   * Nothing else waits for such a call, and it must not fail because another transaction has the key for 50 ms.
   */
  lockWaitMs?: number | undefined
  /** Sends one statement. Rejects with the error of the client, or with a `DeadlineError`. */
  query(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
  /** Sends a text without parameters, of one or more statements. */
  script(text: string): Promise<void>
}

/** A statement that goes before others on each connection, once. */
interface FirstStatement {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** How one statement is sent. */
export interface RunOptions {
  /** What is sent before it if the connection is new to the driver. */
  readonly first?: FirstStatement | undefined
  /** How long the server may be silent, in milliseconds, if less than usual. */
  readonly withinMs?: number | undefined
  /** Whether it writes nothing and locks no rows, so that a standby takes it. */
  readonly reads?: boolean | undefined
}

/** A source of connections. Rejects with a `SluiceError`. */
export interface Connections {
  /** Sends one statement, in a transaction of its own. */
  run(
    statement: Statement,
    values: readonly unknown[],
    options?: RunOptions,
  ): Promise<readonly Row[]>
  /**
   * Does `work` within a transaction, and commits. If `work` rejects, everything is rolled back; if
   * the commit fails, the outcome is unknown.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Does `work` on one connection, outside a transaction. */
  connected<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** From now on every statement is sent in a transaction with the settings that it needs. */
  useTransactions(): void
  /** Whether every statement is sent in such a transaction. */
  readonly usesTransactions: boolean
  /** From now on no statement is prepared. */
  stopPreparing(): void
  /** Closes the connections, unless their pool is the caller's. */
  close(): Promise<void>
}

/**
 * The settings of every transaction, whatever the defaults of the role are: doubles arrive as they are
 * stored, and what is missing in an array is not read as the text NULL. One statement, since some
 * libraries send only one at a time.
 */
export const settingsText =
  "select set_config('extra_float_digits', '1', true), set_config('array_nulls', 'on', true)"

/**
 * Begins a transaction. Each statement sees the rows that are committed when it starts, and a process
 * that stops in the middle does not keep its locks for long. A standby begins none that may write.
 */
export function beginText({ reads = false }: RunOptions): string {
  const mode = reads ? 'read only' : 'read write'
  return `begin isolation level read committed ${mode}; ${settingsText};
set local idle_in_transaction_session_timeout = '5s'`
}
