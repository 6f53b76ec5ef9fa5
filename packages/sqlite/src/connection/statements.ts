import { prepare, type SqliteDatabase, type SqliteStatement } from '../library/database.ts'
import { statementTexts } from '../statements.generated.ts'

/** The name of a statement in `sql/statements`, in camel case. */
export type StatementName = keyof typeof statementTexts

/** The names of all statements. */
export const statementNames: readonly StatementName[] = Object.keys(
  statementTexts,
) as StatementName[]

/** Every statement that is ever run on one connection. */
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

/** Those that must not fail to be prepared once a transaction is open. */
class Prepared {
  readonly database: SqliteDatabase
  readonly begin: SqliteStatement
  readonly beginRead: SqliteStatement
  readonly commit: SqliteStatement
  readonly rollback: SqliteStatement
  readonly dataVersion: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.database = database
    this.begin = prepare(database, 'begin immediate')
    this.beginRead = prepare(database, 'begin')
    this.commit = prepare(database, 'commit')
    this.rollback = prepare(database, 'rollback')
    this.dataVersion = prepare(database, 'pragma data_version')
  }
}

for (const [name, text] of Object.entries(statementTexts)) {
  Object.defineProperty(Prepared.prototype, name, {
    get(this: Prepared): SqliteStatement {
      const value = prepare(this.database, text)
      // From now on a property of its own, which is read as fast as any.
      Object.defineProperty(this, name, { value })
      return value
    },
  })
}

/**
 * The statements of `database`, each prepared when it is first used: preparing all of them takes
 * longer than opening a file.
 */
export function prepareStatements(database: SqliteDatabase): Statements {
  return new Prepared(database) as unknown as Statements
}
