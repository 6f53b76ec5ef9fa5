import module from 'node:module'
import { packageError, SluiceError, SluiceTypeError } from '@sluice/core/driver'
import type { SqliteEnvironment } from '../connection/environment.ts'
import { adaptDatabase, BunDatabase } from './bun-database.ts'
import { isClosed, type SqliteDatabase, singleValue } from './database.ts'
import { isSafeVersion, versionOf } from './sqlite-version.ts'

/** A library with the SQLite that the driver uses; bun:sqlite exists on Bun only. */
export type LibraryName = 'better-sqlite3' | 'node:sqlite' | 'bun:sqlite'

/** A loaded library, and how it opens a file. */
export interface Library {
  readonly name: LibraryName
  /** The prototype of all its connections, which differs in every copy of a library. */
  readonly origin: unknown
  open(path: string): SqliteDatabase
}

type DatabaseClass = new (path: string) => SqliteDatabase

// In a bundle that is CommonJS only `__filename` says where it is, and in one that is not, `import.meta.url`
// may say where it was built. Called in this way, since bundlers replace what a plain `createRequire` makes
// by what they find when they build.
const requireHere = module.createRequire(import.meta.filename ?? __filename)

function isMissing(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_UNKNOWN_BUILTIN_MODULE'
}

function classOf(name: LibraryName): DatabaseClass {
  if (name === 'better-sqlite3') return loaded(requireHere(name) as DatabaseClass)
  const { Database, DatabaseSync } = requireHere(name) as Record<string, DatabaseClass>
  return (name === 'bun:sqlite' ? Database : DatabaseSync) as DatabaseClass
}

/**
 * It loads its binary with the first connection, and makes functions of texts for rows, which Node may disallow. The
 * error would look like one of the file there.
 */
function loaded(BetterSqlite3: DatabaseClass): DatabaseClass {
  try {
    const database = new BetterSqlite3(':memory:')
    database.prepare('select 1 as one').get()
    database.close()
    return BetterSqlite3
  } catch (cause) {
    const instead = "set library: 'node:sqlite'"
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
    // By `--permission` or `--no-addons`, or where no code may be made from strings.
    if (code === 'ERR_DLOPEN_DISABLED' || cause instanceof EvalError) {
      const text = `better-sqlite3 does not load: ${message}; change the flags of Node, or ${instead}`
      throw new SluiceError('ERR_STORE', text, { cause })
    }
    throw packageError('better-sqlite3', instead, cause)
  }
}

function libraryOf(name: LibraryName, Database: DatabaseClass): Library {
  return {
    name,
    origin: originOf(Database.prototype),
    open: (path) => adaptDatabase(new Database(path)),
  }
}

/** The last prototype before that of all objects, so that a subclass is of the same origin. */
function originOf(prototype: object): object {
  const next = Object.getPrototypeOf(prototype) as object | null
  const isLast = next === null || Object.getPrototypeOf(next) === null
  return isLast ? prototype : originOf(next)
}

/** A runtime has its own library or not; only a package can be installed. */
function cannotLoad(name: LibraryName, cause: unknown): SluiceError {
  if (name === 'better-sqlite3') return packageError(name, 'choose another library', cause)
  const advice =
    name === 'node:sqlite' ? 'run Node without --no-experimental-sqlite, or' : 'run it on Bun, or'
  const message = `this runtime has no ${name}; ${advice} choose another library`
  return new SluiceError('ERR_STORE', message, { cause })
}

/** Loads a library; without a name better-sqlite3 if it is installed, and node:sqlite if not. */
export function loadLibrary(name: LibraryName | undefined): Library {
  // better-sqlite3 ends the process there, with a signal and without a word.
  if (!('transfer' in ArrayBuffer.prototype)) {
    throw new SluiceError('ERR_STORE', 'this Node is too old; install Node 22.14 or newer')
  }
  for (const candidate of name === undefined ? preferred : [name]) {
    try {
      return libraryOf(candidate, classOf(candidate))
    } catch (error) {
      if (SluiceError.is(error)) throw error
      if (isMissing(error) && name === undefined) continue
      throw cannotLoad(candidate, error)
    }
  }
  throw new SluiceError(
    'ERR_STORE',
    'neither better-sqlite3 nor node:sqlite is available; install better-sqlite3',
  )
}

/** Whether several connections may share a file by way of this library. */
export function canShareFiles(library: Library, environment: SqliteEnvironment): boolean {
  // The peer dependency excludes old versions of better-sqlite3; the runtime may have any SQLite.
  if (library.name === 'better-sqlite3') return true
  // Bun takes the one of the system on some of them.
  if (library.name === 'bun:sqlite') return isSafeVersion(versionOf(library))
  return isSafeVersion(environment.builtInSqlite())
}

/**
 * In the order of preference: the first is faster, and newer than what old versions of Node bring.
 */
const preferred: readonly LibraryName[] = ['better-sqlite3', 'node:sqlite']

/** All of them. */
export const libraryNames: readonly LibraryName[] = [...preferred, 'bun:sqlite']

/** An open connection of any of the libraries; throws for anything else. */
export function checkDatabase(parameter: string, value: unknown): SqliteDatabase {
  const database = value as Partial<SqliteDatabase> | null | undefined
  if (typeof database?.prepare === 'function' && typeof database.exec === 'function') {
    if (isClosed(database as SqliteDatabase)) {
      throw new SluiceTypeError(parameter, 'must be open')
    }
    return adaptDatabase(database as SqliteDatabase)
  }
  throw new SluiceTypeError(
    parameter,
    'must be a Database of better-sqlite3 or bun:sqlite, or a DatabaseSync of node:sqlite',
  )
}

/**
 * Refuses a connection on which the columns of a query have other names than those of the table: rows
 * would be misread. The settings are those of the caller's queries, so they are not changed.
 */
export function checkColumnNames(parameter: string, database: SqliteDatabase): void {
  // A library without these settings has no value of them.
  const setting = (name: string) => Number(singleValue(database, `pragma ${name}`))
  if (setting('short_column_names') !== 0 && setting('full_column_names') !== 1) return
  throw new SluiceTypeError(
    parameter,
    'must have pragma short_column_names = on and pragma full_column_names = off',
  )
}

/**
 * The library that a connection is of: its very class, so that a second connection to the same file
 * comes from the same copy of SQLite. Two copies in one process drop each other's locks.
 */
export function libraryBehind(database: SqliteDatabase): Library {
  if (database instanceof BunDatabase) {
    return libraryOf('bun:sqlite', database.inner.constructor as DatabaseClass)
  }
  // Only better-sqlite3 has this method.
  const name = 'pragma' in database ? 'better-sqlite3' : 'node:sqlite'
  return libraryOf(name, database.constructor as DatabaseClass)
}

/** How two libraries differ, in words; `undefined` if they are the same copy of SQLite. */
export function differenceOf(one: Library, other: Library): string | undefined {
  if (one.name !== other.name) return one.name
  return one.origin === other.origin ? undefined : `another copy of ${one.name}`
}
