/**
 * The driver that keeps keys in a SQLite file, which several processes of one machine may share. Call
 * `sqliteDriver` with a `file`, or with a `database` that is open, and pass the result to a queue. It uses
 * better-sqlite3 where that is installed, and `node:sqlite` otherwise. `examineStore` checks a file for
 * damage.
 *
 * @packageDocumentation
 */

import type { Driver } from '@sluice/core/driver'
import { sqliteEnvironment } from './connection/environment.ts'
import { targetOf } from './connection/target.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { checkOptions, type SqliteOptions } from './sqlite-options.ts'

export type { Durability } from './connection/durability.ts'
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './library/database.ts'
export type { LibraryName } from './library/library.ts'
export { examineStore, type StoreReport } from './schema/examine-store.ts'
export type { MigrateMode } from './schema/migrate.ts'
export type {
  CommonOptions,
  DatabaseOptions,
  FileOptions,
  SqliteOptions,
} from './sqlite-options.ts'

/**
 * Stores keys in a SQLite file, which several processes of one machine may share.
 *
 * The first queue opens it. Throws for invalid options only.
 */
export function sqliteDriver(options: SqliteOptions): Driver {
  return new SqliteDriver(targetOf(checkOptions(options), sqliteEnvironment))
}
