import { SluiceError } from '@sluice/core'
import { type SqliteDatabase, singleValue } from './database.ts'

/**
 * The first version without a bug by which, rarely, a log that two connections work on is reset
 * while it is still needed (https://sqlite.org/wal.html#walresetbug).
 */
const versionMin: readonly [number, number, number] = [3, 51, 3]

/** Whether a version of SQLite can be trusted with a file that several processes share. */
export function isSafeVersion(version: string): boolean {
  const parts = version.split('.').map(Number)
  for (const [index, least] of versionMin.entries()) {
    const part = parts[index] ?? 0
    if (part !== least) return part > least
  }
  return true
}

/** Refuses a version of SQLite that could damage a file which several processes share. */
export function checkVersion(database: SqliteDatabase): void {
  const version = String(singleValue(database, 'select sqlite_version()'))
  if (isSafeVersion(version)) return
  throw new SluiceError(
    'ERR_STORE',
    `SQLite ${version} can damage a file that several processes share; install better-sqlite3 13, ` +
      `or use a Node whose node:sqlite has SQLite ${versionMin.join('.')} or newer`,
  )
}
