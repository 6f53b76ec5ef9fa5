import type { SqliteDatabase, SqliteStatement } from '../library/database.ts'
import { statementTexts } from '../statements.generated.ts'

/** The name of a statement in `sql/statements`, in camel case. */
export type StatementName = keyof typeof statementTexts

/** Every statement that is ever run, prepared on one connection. */
export interface Statements extends Readonly<Record<StatementName, SqliteStatement>> {
  readonly database: SqliteDatabase
  /** Begins a transaction that holds the write lock from the start, so that it cannot lose it. */
  readonly begin: SqliteStatement
  /** Begins a transaction that only reads. */
  readonly beginRead: SqliteStatement
  readonly commit: SqliteStatement
  readonly rollback: SqliteStatement
  /** Changes when another connection has committed. */
  readonly dataVersion: SqliteStatement
}

/** Prepares every statement on `database`. */
export function prepareStatements(database: SqliteDatabase): Statements {
  const prepared = Object.entries(statementTexts).map(
    ([name, text]) => [name, database.prepare(text)] as const,
  )
  return {
    ...(Object.fromEntries(prepared) as Record<StatementName, SqliteStatement>),
    database,
    begin: database.prepare('begin immediate'),
    beginRead: database.prepare('begin'),
    commit: database.prepare('commit'),
    rollback: database.prepare('rollback'),
    dataVersion: database.prepare('pragma data_version'),
  }
}
