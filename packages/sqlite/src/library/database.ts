/** What may be bound to a parameter. Instants that are not set are null here. */
export type SqliteValue = null | number | string

/** A prepared statement, as far as the libraries agree. */
export interface SqliteStatement<Value = SqliteValue> {
  run(...parameters: Value[]): {
    readonly changes: number | bigint
    readonly lastInsertRowid: number | bigint
  }
  get(...parameters: Value[]): unknown
  all(...parameters: Value[]): unknown[]
}

/**
 * A connection, as far as the libraries agree: a `Database` of better-sqlite3 or of bun:sqlite, or a
 * `DatabaseSync` of node:sqlite.
 */
export interface SqliteDatabase {
  // `unknown`: for TypeScript before 6.0, a statement of better-sqlite3 may be one that takes no null.
  prepare(sql: string): SqliteStatement<unknown>
  exec(sql: string): unknown
  close(): unknown
}

/** Whether a connection of better-sqlite3 or node:sqlite is closed; bun:sqlite does not say it. */
export function isClosed(database: SqliteDatabase): boolean {
  const { open, isOpen } = database as { readonly open?: unknown; readonly isOpen?: unknown }
  return open === false || isOpen === false
}

/** How a statement gives its rows; a connection of the caller may have other defaults. */
interface RowSettings {
  /** better-sqlite3, and node:sqlite: whether whole numbers are bigints. */
  safeIntegers?(are: boolean): unknown
  setReadBigInts?(are: boolean): void
  /** node:sqlite: whether rows are arrays. */
  setReturnArrays?(are: boolean): void
}

/** Prepares a statement whose rows are objects, and whose numbers are numbers. */
export function prepare(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement: SqliteStatement & RowSettings = database.prepare(sql)
  statement.safeIntegers?.(false)
  statement.setReadBigInts?.(false)
  statement.setReturnArrays?.(false)
  return statement
}

/** The one value of a pragma, or of any query with one row and one column. */
export function singleValue(database: SqliteDatabase, sql: string): unknown {
  const row = prepare(database, sql).get()
  return row === undefined ? undefined : Object.values(row as object)[0]
}
