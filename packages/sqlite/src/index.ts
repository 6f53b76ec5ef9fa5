/**
 * The driver that keeps keys in a SQLite file, which several processes of one machine may share. Call
 * `sqliteDriver` with a `file`, or with a `database` that is open, and pass the result to a queue. It uses
 * better-sqlite3 where that is installed, and `node:sqlite` otherwise. `examineStore` checks a file for
 * damage.
 *
 * @packageDocumentation
 */

import type { Driver } from '@sluice/core'
import { thisMachine } from './machine.ts'
import { placeOf } from './place.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { checkOptions, type SqliteOptions } from './sqlite-options.ts'

export type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.ts'
export type { Durability } from './durability.ts'
export { examineStore, type StoreReport } from './examine-store.ts'
export type { LibraryName } from './library.ts'
export type { Migrate } from './schema.ts'
export type {
  CommonOptions,
  DatabaseOptions,
  FileOptions,
  SqliteOptions,
} from './sqlite-options.ts'

/**
 * Keeps keys in a SQLite file, which several processes of one machine may share.
 *
 * Nothing is opened before the first queue needs it. Throws for bad options only.
 */
export function sqliteDriver(options: SqliteOptions): Driver {
  return new SqliteDriver(placeOf(checkOptions(options), thisMachine))
}
