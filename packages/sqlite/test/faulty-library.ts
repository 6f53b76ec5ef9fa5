import { createRequire } from 'node:module'
import type { SqliteDatabase, SqliteStatement, SqliteValue } from '../src/library/database.ts'
import type { Library } from '../src/library/library.ts'

const requireHere = createRequire(import.meta.url)

/** An error as better-sqlite3 throws it. */
export function sqliteError(code: string): Error {
  return Object.assign(new Error(`made up: ${code}`), { code, name: 'SqliteError' })
}

/** Decides what happens to a statement that is about to run. */
export interface Fault {
  /** Throws to let the statement fail before it ran. */
  before?(sql: string): void
  /** Throws to let the statement fail although it ran. */
  after?(sql: string): void
}

/** The real library, whose statements can be made to fail, and are counted. */
export class FaultyLibrary implements Library {
  readonly name = 'better-sqlite3'
  readonly origin: unknown = requireHere('better-sqlite3').prototype
  fault: Fault = {}
  /** How many statements ran, and how many of them read nothing but the number of changes. */
  statements = 0
  versionReads = 0
  opened = 0

  open(path: string): SqliteDatabase {
    // The version of SQLite is read from a database in memory.
    if (path !== ':memory:') this.opened += 1
    const database = new (requireHere('better-sqlite3'))(path) as SqliteDatabase
    const wrapped = {
      prepare: (sql: string) => this.#statement(sql, database.prepare(sql)),
      exec: (sql: string) => this.#run(sql, () => database.exec(sql)),
      close: () => database.close(),
      get inTransaction() {
        return (database as { readonly inTransaction?: unknown }).inTransaction
      },
    }
    return wrapped
  }

  #statement(sql: string, statement: SqliteStatement): SqliteStatement {
    return {
      run: (...values: SqliteValue[]) => this.#run(sql, () => statement.run(...values)),
      get: (...values: SqliteValue[]) => this.#run(sql, () => statement.get(...values)),
      all: (...values: SqliteValue[]) => this.#run(sql, () => statement.all(...values)),
    }
  }

  #run<T>(sql: string, run: () => T): T {
    if (sql === 'pragma data_version') this.versionReads += 1
    else this.statements += 1
    this.fault.before?.(sql)
    const value = run()
    this.fault.after?.(sql)
    return value
  }
}
