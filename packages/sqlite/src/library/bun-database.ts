import type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.ts'

/** What is used of a `Database` of bun:sqlite. */
interface BunSqlite extends SqliteDatabase {
  prepare(sql: string): BunStatement
  /** Prepares a statement and keeps it; only this library has it. */
  query(sql: string): unknown
  readonly inTransaction: boolean
}

interface BunStatement extends SqliteStatement {
  finalize(): void
}

/** Holds for a `Database` of bun:sqlite. */
function isBunSqlite(database: SqliteDatabase): database is BunSqlite {
  return typeof (database as Partial<BunSqlite>).query === 'function'
}

/**
 * A connection of bun:sqlite with the behaviour of the other two libraries. Its `get` returns null where
 * there is no row. And `close` keeps the file open, with its locks, while a statement exists: so each text
 * is prepared once, and its statement ends before the connection does.
 */
export class BunDatabase implements SqliteDatabase {
  readonly inner: BunSqlite
  readonly #statements = new Map<string, BunStatement>()

  constructor(inner: BunSqlite) {
    this.inner = inner
  }

  get inTransaction(): boolean {
    try {
      return this.inner.inTransaction
    } catch {
      // It is closed, which has ended its transaction.
      return false
    }
  }

  prepare(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.inner.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return likeOthers(statement)
  }

  exec(sql: string): unknown {
    return this.inner.exec(sql)
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize()
    this.#statements.clear()
    this.inner.close()
  }
}

function likeOthers(statement: BunStatement): SqliteStatement {
  return {
    run: (...values: SqliteValue[]) => statement.run(...values),
    get: (...values: SqliteValue[]) => statement.get(...values) ?? undefined,
    all: (...values: SqliteValue[]) => statement.all(...values),
  }
}

/** One for each connection, so that a connection that is passed twice is the same one. */
const adapted = new WeakMap<SqliteDatabase, BunDatabase>()

/** A connection of bun:sqlite as a {@link BunDatabase}, and any other as it is. */
export function adaptDatabase(database: SqliteDatabase): SqliteDatabase {
  if (!isBunSqlite(database)) return database
  let found = adapted.get(database)
  if (found === undefined) {
    found = new BunDatabase(database)
    adapted.set(database, found)
  }
  return found
}
