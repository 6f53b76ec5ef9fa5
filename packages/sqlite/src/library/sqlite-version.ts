import { SluiceError } from '@sluice/core/driver'
import { singleValue } from './database.ts'
import type { Library } from './library.ts'

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

/** The version of SQLite in a library. A statement on a file would fail while that is locked. */
export function versionOf(library: Library): string {
  const database = library.open(':memory:')
  try {
    return String(singleValue(database, 'select sqlite_version()'))
  } finally {
    database.close()
  }
}

const remedy =
  'install better-sqlite3 13, or run a Node whose node:sqlite has SQLite ' +
  `${versionMin.join('.')} or newer`

/** The error for a second connection with a version of SQLite that can then lose data. */
export function unsafeVersionError(version: string): SluiceError {
  return new SluiceError(
    'ERR_STORE',
    `SQLite ${version} can damage a file that two connections share; ${remedy}`,
  )
}

/** The error for a file that is in use elsewhere, when this version of SQLite must be alone on it. */
export function notAloneError(file: string, version: string, cause: unknown): SluiceError {
  return new SluiceError(
    'ERR_STORE',
    `${file} is open in another process or thread, and SQLite ${version} can damage a file that two ` +
      `connections share; close it there, or ${remedy}`,
    { cause },
  )
}
