import { checkBoolean, checkNumber, checkObject, checkOneOf, checkString } from '@sluice/core'
import { SluiceTypeError } from '@sluice/core/driver'
import type { Durability } from './connection/durability.ts'
import type { SqliteDatabase } from './library/database.ts'
import { checkDatabase, type LibraryName, libraryNames } from './library/library.ts'
import type { MigrateMode } from './schema/migrate.ts'

/** The options of every way to open a store. */
export interface CommonOptions {
  /** What an acknowledged write survives. Default: `power`. */
  readonly durability?: Durability | undefined
  /** Whether an older schema is migrated or rejected. Default: `apply`. */
  readonly migrate?: MigrateMode | undefined
  /**
   * How long an operation waits for a file that another process has locked, in milliseconds, before
   * it fails with `ERR_STORE_BUSY`. Keep it below the queue's `timeoutMs`. Default: 20,000.
   */
  readonly lockWaitMs?: number | undefined
  /** Whether file systems whose locks are not reliable, such as network ones, are accepted. Default false. */
  readonly unsafeFilesystem?: boolean | undefined
}

/** A store in a file of its own. */
export interface FileOptions extends CommonOptions {
  /**
   * The path of the file. A relative one begins at the current folder of the process when the driver is
   * created. The file is created if it does not exist; its directory must exist.
   */
  readonly file: string
  /** Default: better-sqlite3 if it is installed, node:sqlite if not. */
  readonly library?: LibraryName | undefined
  /** Whether a missing file is an error, because it may be a missing mount. Default: it is created. */
  readonly mustExist?: boolean | undefined
}

/** A store in a database that the program has opened, next to its own tables. */
export interface DatabaseOptions extends CommonOptions {
  /** A `Database` of better-sqlite3 or bun:sqlite, or a `DatabaseSync` of node:sqlite. */
  readonly database: SqliteDatabase
  /**
   * The driver uses the given connection only, which no other code may use while a verb runs. A
   * database in memory requires it. Without it the driver opens a connection of its own to the same
   * file, and the given one is used by `within` only. Default false.
   */
  readonly exclusive?: boolean | undefined
}

/** Where and how the keys are stored. */
export type SqliteOptions = FileOptions | DatabaseOptions

const commonNames = ['durability', 'migrate', 'lockWaitMs', 'unsafeFilesystem']
const fileNames = ['file', 'library', 'mustExist', ...commonNames]
const databaseNames = ['database', 'exclusive', ...commonNames]

/** Whether the options hand in a database. */
export function isDatabase(options: SqliteOptions): options is DatabaseOptions {
  return (options as Partial<DatabaseOptions>).database !== undefined
}

/** Accepts valid options. */
export function checkOptions(options: SqliteOptions): SqliteOptions {
  checkObject('options', options)
  if (isDatabase(options)) {
    const { database, exclusive = false } = checkObject('options', options, databaseNames)
    checkDatabase('database', database)
    checkBoolean('exclusive', exclusive)
  } else {
    checkFile(checkObject('options', options, fileNames))
  }
  const { durability = 'power', migrate = 'apply', lockWaitMs = 0 } = options
  const { unsafeFilesystem = false } = options
  checkOneOf('durability', durability, ['power', 'process'])
  checkOneOf('migrate', migrate, ['apply', 'verify'])
  checkNumber('lockWaitMs', lockWaitMs, { min: 0 })
  checkBoolean('unsafeFilesystem', unsafeFilesystem)
  return options
}

function checkFile({ file, library, mustExist = false }: FileOptions): void {
  if (file === undefined) throw new SluiceTypeError('options', 'must have either file or database')
  checkString('file', file, { empty: false })
  // An address, as the command line takes, would create a file of that name.
  if (/^(:memory|sqlite|file):/.test(file)) {
    throw new SluiceTypeError(
      'file',
      'must be a path, no address; a database in memory is handed in: { database, exclusive: true }',
    )
  }
  // better-sqlite3 opens the file without the white space, which is another one.
  if (/\0|\s$/.test(file)) {
    throw new SluiceTypeError('file', 'must not contain NUL, or end with white space')
  }
  if (library !== undefined) checkOneOf('library', library, libraryNames)
  checkBoolean('mustExist', mustExist)
}
