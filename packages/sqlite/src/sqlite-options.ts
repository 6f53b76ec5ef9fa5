import { checkBoolean, checkNumber, checkObject, checkOneOf, checkString } from '@sluice/core'
import { SluiceTypeError } from '@sluice/core/driver'
import type { Durability } from './connection/durability.ts'
import type { SqliteDatabase } from './library/database.ts'
import { checkDatabase, type LibraryName, libraryNames } from './library/library.ts'
import type { Migrate } from './schema/migrate.ts'

/** What holds for every way of opening a store. */
export interface CommonOptions {
  /** What an acknowledged write survives. Default: `power`. */
  readonly durability?: Durability
  /** Whether an older schema is brought up to date, or refused. Default: `apply`. */
  readonly migrate?: Migrate
  /**
   * How long an operation waits for a file that another process has locked, in milliseconds, before
   * it fails with `ERR_STORE_BUSY`. Keep it below the queue's `timeoutMs`. Default: 20,000.
   */
  readonly lockWaitMs?: number
  /** Takes file systems whose locks cannot be relied on, such as those of a network. */
  readonly unsafeFilesystem?: boolean
}

/** A store in a file of its own. */
export interface FileOptions extends CommonOptions {
  /** The path of the file. It is made if it is not there; its directory has to be. */
  readonly file: string
  /** Default: better-sqlite3 if it is installed, node:sqlite if not. */
  readonly library?: LibraryName
  /** Refuses to make the file. For when a missing file would be a missing mount. */
  readonly mustExist?: boolean
}

/** A store in a database that the program has opened itself, beside its own tables. */
export interface DatabaseOptions extends CommonOptions {
  /** A `Database` of better-sqlite3, or a `DatabaseSync` of node:sqlite. */
  readonly database: SqliteDatabase
  /**
   * Everything goes through the given connection, which nothing else may use while a verb runs. It
   * is the only way for a database in memory. Without it the driver opens a connection of its own
   * to the same file, and the given one serves `within` alone.
   */
  readonly exclusive?: boolean
}

/** Where the keys are, and how they are kept. */
export type SqliteOptions = FileOptions | DatabaseOptions

const commonNames = ['durability', 'migrate', 'lockWaitMs', 'unsafeFilesystem']
const fileNames = ['file', 'library', 'mustExist', ...commonNames]
const databaseNames = ['database', 'exclusive', ...commonNames]

/** Holds for options that make sense. */
export function checkOptions(options: SqliteOptions): SqliteOptions {
  checkObject('options', options)
  if ('database' in options) {
    checkObject('options', options, databaseNames)
    checkDatabase('options.database', options.database)
    if (options.exclusive !== undefined) checkBoolean('options.exclusive', options.exclusive)
  } else {
    checkObject('options', options, fileNames)
    checkFile(options)
  }
  const { durability, migrate, lockWaitMs, unsafeFilesystem } = options
  if (durability !== undefined) checkOneOf('options.durability', durability, ['power', 'process'])
  if (migrate !== undefined) checkOneOf('options.migrate', migrate, ['apply', 'verify'])
  if (lockWaitMs !== undefined) checkNumber('options.lockWaitMs', lockWaitMs, { min: 0 })
  if (unsafeFilesystem !== undefined) checkBoolean('options.unsafeFilesystem', unsafeFilesystem)
  return options
}

function checkFile({ file, library, mustExist }: FileOptions): void {
  checkString('options.file', file, { empty: false })
  if (file === ':memory:') {
    throw new SluiceTypeError(
      'options.file',
      'must be a file; a database in memory is handed in: { database, exclusive: true }',
    )
  }
  if (file.includes('\0')) throw new SluiceTypeError('options.file', 'must not contain NUL')
  if (library !== undefined) checkOneOf('options.library', library, libraryNames)
  if (mustExist !== undefined) checkBoolean('options.mustExist', mustExist)
}
