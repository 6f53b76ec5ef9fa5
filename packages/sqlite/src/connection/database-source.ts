import { type EpochMs, SluiceError } from '@sluice/core/driver'
import { isClosed, prepare, type SqliteDatabase } from '../library/database.ts'
import { checkColumnNames, type Library } from '../library/library.ts'
import {
  isSafeVersion,
  notAloneError,
  unsafeVersionError,
  versionOf,
} from '../library/sqlite-version.ts'
import { ensureSchema, type MigrateMode, type Ownership } from '../schema/migrate.ts'
import { applyPragmas, type Durability } from './durability.ts'
import { errorKindOf } from './errors.ts'
import { networkFilesystemOf } from './network-filesystem.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { ensureFile, fileError, statusOf, whileAlone } from './store-file.ts'

/** Opens and closes the connection to a store. */
export interface DatabaseSource {
  /** The name of the store in messages: the path of the file. */
  readonly file: string
  open(now: EpochMs): Statements
  close(statements: Statements): void
  /** Abandons a connection on which a transaction of the driver could not be ended. */
  abandon(statements: Statements): void
  /**
   * Whether the path now leads to another file than the one that was opened, to an emptied one or to none,
   * or the file of its locks was removed.
   */
  isReplaced(): boolean
  /** Throws while the connection is in a transaction of the caller. */
  checkFree(): void
}

/** How a file is opened. */
export interface FileSettings {
  /** The real path. */
  readonly file: string
  readonly library: Library
  readonly durability: Durability
  readonly migrate: MigrateMode
  readonly mustExist: boolean
  readonly unsafeFilesystem: boolean
  /** `guest`: the tables may be created in a database of the caller. */
  readonly ownership: Ownership
}

/** Connections of the driver to a file. */
export class FileSource implements DatabaseSource {
  readonly settings: FileSettings
  readonly #networkOf: (directory: string) => string | undefined
  /** Device and number of the file that was opened, and the number of the file of its locks. */
  #identity: string | undefined
  /**
   * When the log of that file was created, if that is known; the number of a file that was removed may be
   * given to another.
   */
  #logBornAt = -1

  constructor(settings: FileSettings, networkOf: typeof networkFilesystemOf = networkFilesystemOf) {
    this.settings = settings
    this.#networkOf = networkOf
  }

  get file(): string {
    return this.settings.file
  }

  open(now: EpochMs): Statements {
    const { file, library, durability, migrate, ownership } = this.settings
    // A file that has existed must not be replaced by an empty one.
    const mustExist = this.settings.mustExist || this.#identity !== undefined
    ensureFile(file, { ...this.settings, mustExist, now, networkOf: this.#networkOf })
    const version = versionOf(library)
    const { size, birthtimeMs } = statusOf(`${file}-wal`) ?? {}
    const isOther = !this.#identity?.startsWith(inodeOf(file))
    if (size && isOther && birthtimeMs === this.#logBornAt) {
      // SQLite would apply it, and damage a backup that was moved here.
      throw fileError(`${file} was replaced, but not its log; remove ${file}-wal and -shm`)
    }
    const mustBeAlone = !isSafeVersion(version)
    if (!mustBeAlone && isOneMissing(file)) recoverAlone(library, file)
    const database = library.open(file)
    try {
      if (mustBeAlone) {
        // This version of SQLite must not share a file.
        if (ownership === 'guest') throw unsafeVersionError(version)
        database.exec('pragma locking_mode = exclusive')
      }
      applyPragmas(database, durability)
      // Some versions take the lock with the first write only.
      if (mustBeAlone) database.exec('begin exclusive; commit')
      ensureSchema(database, file, { ownership, migrate, now })
      const statements = prepareStatements(database)
      this.#identity = this.#identityNow()
      this.#logBornAt = statusOf(`${file}-wal`)?.birthtimeMs || -1
      return statements
    } catch (error) {
      database.close()
      // The other connection is not at the end of a transaction: it has the file for itself, or
      // shares it with others. Waiting would not help.
      if (mustBeAlone && errorKindOf(error) === 'busy') throw notAloneError(file, version, error)
      throw error
    }
  }

  close({ database }: Statements): void {
    try {
      // SQLite does that only for the connection that closes last, and not while another one is being opened.
      if (!statusOf(`${this.file}-wal`)) database.exec('pragma wal_checkpoint')
    } catch {
      // What the removed log has may be lost.
    }
    database.close()
  }

  abandon(statements: Statements): void {
    // Closing it ends the transaction.
    this.close(statements)
  }

  isReplaced(): boolean {
    try {
      return this.#identity !== this.#identityNow()
    } catch {
      // A path that cannot be reached leads to no file; the next attempt to open it reports why.
      return true
    }
  }

  checkFree(): void {}

  #identityNow(): string {
    const { file } = this.settings
    // SQLite keeps that file until the last connection closes. Whatever removes it, such as a cleaner of
    // temporary files, lets the next process make another one: two would write at once.
    return `${inodeOf(file)}${statusOf(`${file}-shm`)?.ino}:${statusOf(`${file}-wal`)?.ino}`
  }
}

function inodeOf(path: string): string {
  const status = statusOf(path)
  // A file that was emptied keeps its number, and is another one.
  return `${status?.dev}:${status?.size && status.ino}:`
}

/**
 * Whether only one is there of the log and the file of the locks. The first connection makes the log before that
 * file, and the last one that closes removes it before the log: either may be between two of these looks.
 */
function isOneMissing(file: string): boolean {
  const before = statusOf(`${file}-shm`)?.ino
  const size = statusOf(`${file}-wal`)?.size
  const after = statusOf(`${file}-shm`)?.ino
  // A log that is still empty is one of a connection that is being opened.
  return after === undefined
    ? size !== undefined && size > 0
    : after === before && size === undefined
}

/**
 * Takes over a file whose log or `-shm` is missing. Fails as busy while another process has the file open: it
 * uses the one that was removed, and would not meet the locks of a new one, or would take what is in another log
 * for what is in its own.
 */
function recoverAlone(library: Library, file: string): void {
  try {
    whileAlone(library, file, 'pragma locking_mode = exclusive')
  } catch (error) {
    if (errorKindOf(error) !== 'busy') throw error
    throw new SluiceError(
      'ERR_STORE_BUSY',
      `${file} is in use by a connection whose -wal or -shm was removed, or that needs none; close it`,
      { cause: error, retryable: true },
    )
  }
}

/** The one connection that the caller has passed. The caller closes it. */
export class HandedInSource implements DatabaseSource {
  readonly file: string
  readonly #database: SqliteDatabase
  readonly #durability: Durability
  readonly #migrate: MigrateMode
  /** Whether the transaction that is open on it is one of the driver. */
  #isLeftOpen = false

  constructor(
    database: SqliteDatabase,
    file: string,
    durability: Durability,
    migrate: MigrateMode,
  ) {
    this.file = file
    this.#database = database
    this.#durability = durability
    this.#migrate = migrate
  }

  open(now: EpochMs): Statements {
    if (this.#isLeftOpen && isInTransaction(this.#database)) this.#database.exec('rollback')
    this.#isLeftOpen = false
    // The journal mode cannot be set in a transaction.
    this.checkFree()
    checkColumnNames('database', this.#database)
    applyPragmas(this.#database, this.#durability)
    const options = { ownership: 'guest', migrate: this.#migrate, now } as const
    ensureSchema(this.#database, this.file, options)
    return prepareStatements(this.#database)
  }

  close(): void {}

  abandon(): void {
    this.#isLeftOpen = true
  }

  isReplaced(): boolean {
    return false
  }

  checkFree(): void {
    if (!isInTransaction(this.#database)) return
    const message = 'the database given as exclusive is in a transaction of another user'
    throw new SluiceError('ERR_STORE_BUSY', message, { retryable: true })
  }
}

/** The path of the file that a connection is on; empty for one in memory. */
export function fileOf(database: SqliteDatabase): string {
  const rows = prepare(database, 'pragma database_list').all() as {
    readonly name: string
    readonly file: string | null
  }[]
  return rows.find(({ name }) => name === 'main')?.file ?? ''
}

/** Whether a transaction was begun on a connection and has not ended; closing ends it, too. */
export function isInTransaction(database: SqliteDatabase): boolean {
  // A closed connection of node:sqlite throws when its transaction is read.
  if (isClosed(database)) return false
  const { inTransaction, isTransaction } = database as {
    readonly inTransaction?: unknown
    readonly isTransaction?: unknown
  }
  if (typeof inTransaction === 'boolean') return inTransaction
  if (typeof isTransaction === 'boolean') return isTransaction
  // An old node:sqlite has neither. A transaction cannot begin within another one.
  try {
    database.exec('begin')
  } catch (error) {
    return (error as { readonly code?: unknown }).code !== 'ERR_INVALID_STATE'
  }
  database.exec('rollback')
  return false
}

/** The damage of the pages and indexes of a database, in words; empty if there is none. */
export function findingsIn(database: SqliteDatabase, pragma: string): string[] {
  const rows = prepare(database, `pragma ${pragma}`).all() as Record<string, unknown>[]
  const findings = rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok')
  // SQLITE_IOERR_READ and SQLITE_IOERR_CORRUPTFS: the system could not read a page.
  const unread = findings.find((text) => /error code=(266|8458)\b/.test(text))
  if (unread !== undefined) throw Object.assign(new Error(unread), { code: 'SQLITE_IOERR' })
  return findings
}
