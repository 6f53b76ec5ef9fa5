import type { Row } from './client-shapes.ts'
import type { Statement } from './statements.ts'

/** One connection, for as long as it is ours. */
export interface Connection {
  /** Which process of the server was promised when the connection was made, if that is known. */
  readonly backendId?: number | undefined
  /** Sends one statement. Rejects with what the client rejects with, or once its time is over. */
  query(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
  /** Sends a text without parameters, of one or more statements. */
  script(text: string): Promise<void>
}

/** How one statement is sent. */
export interface RunOptions {
  /** How long the server may be silent, in milliseconds, if less than usual. */
  readonly withinMs?: number
}

/** Where connections come from. Rejects with errors of ours. */
export interface Connections {
  /** Sends one statement, in a transaction of its own. */
  run(
    statement: Statement,
    values: readonly unknown[],
    options?: RunOptions,
  ): Promise<readonly Row[]>
  /**
   * Does `work` within a transaction, and commits. When `work` rejects, everything is undone; when
   * the commit fails, it may or may not be.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Does `work` on one connection, outside a transaction. */
  connected<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** From now on every statement is sent in a transaction that says how it is to be. */
  insist(): void
  /** Whether that is so. */
  readonly isInsisting: boolean
  /** From now on nothing is prepared. */
  stopPreparing(): void
  /** Lets go of the connections that are ours. */
  close(): Promise<void>
}

/**
 * What has to hold in a transaction of ours, whatever the defaults of the role are: doubles come as
 * they are stored, and a process that stops in the middle does not keep its locks for long.
 */
const settingsText =
  "set local extra_float_digits = 1; set local idle_in_transaction_session_timeout = '5s'"

/** How transactions of ours begin: each statement sees what is committed when it starts. */
export const beginText: string = `begin isolation level read committed read write; ${settingsText}`
