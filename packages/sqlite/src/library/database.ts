/** What may be bound to a parameter. Instants that are not set are null here. */
export type SqliteValue = null | number | string

/** A prepared statement, as far as the libraries agree. */
export interface SqliteStatement {
  run(...parameters: SqliteValue[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  get(...parameters: SqliteValue[]): unknown
  all(...parameters: SqliteValue[]): unknown[]
}

/**
 * A connection, as far as the libraries agree: a `Database` of better-sqlite3 or of bun:sqlite, or a
 * `DatabaseSync` of node:sqlite.
 */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): unknown
}

/** The one value of a pragma, or of any query with one row and one column. */
export function singleValue(database: SqliteDatabase, sql: string): unknown {
  const row = database.prepare(sql).get()
  return row === undefined ? undefined : Object.values(row as object)[0]
}
