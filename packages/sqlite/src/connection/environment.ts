import { threadId } from 'node:worker_threads'
import { type Environment, systemEnvironment } from '@sluice/core/driver'

/** What this driver takes from the machine that it runs on. */
export interface SqliteEnvironment extends Environment {
  /** Differs in every process and thread. */
  thread(): string
  /** The version of SQLite that is built into this Node. */
  builtInSqlite(): string
}

/** The machine that the process runs on: the one place of this package that reads process state. */
export const sqliteEnvironment: SqliteEnvironment = {
  ...systemEnvironment,
  // Read at each call: after a fork the answer is another.
  thread: () => `${process.pid}/${threadId}`,
  builtInSqlite: () => process.versions['sqlite'] ?? '0',
}
