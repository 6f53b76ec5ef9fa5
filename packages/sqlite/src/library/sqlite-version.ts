import { SluiceError } from '@sluice/core/driver'
import { type SqliteDatabase, singleValue } from './database.ts'

/**
 * The first version without a bug by which, rarely, a log that two connections work on is reset
 * while it is still needed (https://sqlite.org/wal.html#walresetbug).
 */
const versionMin: readonly [number, number, number] = [3, 51, 3]

/** Whether several connections may share a file with this version of SQLite. */
export function isSafeVersion(version: string): boolean {
  const parts = version.split('.').map(Number)
  for (const [index, least] of versionMin.entries()) {
    const part = parts[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}

/** The version of SQLite behind a connection. */
export function versionBehind(database: SqliteDatabase): string {
  return String(singleValue(database, 'select sqlite_version()'))
}

/** The error for a second connection with a version of SQLite that can then lose data. */
export function unsafeVersionError(version: string): SluiceError {
  return new SluiceError(
    'ERR_STORE',
    `SQLite ${version} can damage a file that two connections share; install better-sqlite3 13, or ` +
      `use a Node whose node:sqlite has SQLite ${versionMin.join('.')} or newer`,
  )
}
