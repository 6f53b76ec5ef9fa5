import { type Awaitable, type Clock, SluiceTypeError } from '@sluice/core/driver'
import type { SqliteDatabase } from '../library/database.ts'
import { canShareFiles, type LibraryName, libraryBehind, loadLibrary } from '../library/library.ts'
import type { DatabaseOptions, FileOptions, SqliteOptions } from '../sqlite-options.ts'
import { Connection } from './connection.ts'
import { type ConnectionShare, shareConnection } from './connection-share.ts'
import { type FileSettings, fileOf, HandedInSource } from './database-source.ts'
import type { SqliteEnvironment } from './environment.ts'
import { realPathOf } from './store-file.ts'

/** Where a driver keeps its keys, and how it gets there. */
export interface Target {
  readonly isInMemory: boolean
  /** Whether other processes can open it at the same time. */
  readonly isShared: boolean
  /** Whether a connection of the caller's can take part; not if the file has to be ours alone. */
  readonly canTransact: boolean
  /** The connection that was handed in for everything, if one was. */
  readonly exclusive: SqliteDatabase | undefined
  /** The real path of the file; empty for a database in memory. Throws if it cannot be reached. */
  file(): string
  connect(clock: Clock): Awaitable<ConnectionShare>
}

/** How long an operation waits for a lock unless told otherwise, in milliseconds. */
export const lockWaitMsUsual = 20_000

/** The target that the options name. */
export function targetOf(options: SqliteOptions, environment: SqliteEnvironment): Target {
  if (!('database' in options)) return fileTarget(options, environment)
  if (options.exclusive === true) return handedInTarget(options, environment)
  return guestTarget(options, environment)
}

/** How the file is opened that the options name. */
export function fileSettings(options: FileOptions): FileSettings {
  return {
    ...common(options),
    file: realPathOf(options.file),
    library: loadLibrary(options.library),
    mustExist: options.mustExist ?? false,
    ownership: 'ours',
  }
}

function fileTarget(options: FileOptions, environment: SqliteEnvironment): Target {
  const isShared = canShare(options.library, environment)
  return {
    isInMemory: false,
    isShared,
    canTransact: isShared,
    exclusive: undefined,
    file: () => realPathOf(options.file),
    connect: (clock) =>
      shareConnection(
        fileSettings(options),
        environment,
        options.lockWaitMs ?? lockWaitMsUsual,
        clock,
      ),
  }
}

function canShare(name: LibraryName | undefined, environment: SqliteEnvironment): boolean {
  try {
    return canShareFiles(loadLibrary(name), environment)
  } catch {
    // It is missing, which opening will say.
    return true
  }
}

/** A connection of our own beside the one that was handed in. */
function guestTarget(options: DatabaseOptions, environment: SqliteEnvironment): Target {
  const { database } = options
  const path = fileOf(database)
  if (path === '') {
    throw new SluiceTypeError(
      'options.exclusive',
      'must be true for a database in memory; there is no second connection to it',
    )
  }
  return {
    isInMemory: false,
    isShared: true,
    canTransact: true,
    exclusive: undefined,
    file: () => realPathOf(path),
    connect: (clock) =>
      shareConnection(
        {
          ...common(options),
          file: realPathOf(path),
          library: libraryBehind(database),
          mustExist: true,
          ownership: 'guest',
        },
        environment,
        options.lockWaitMs ?? lockWaitMsUsual,
        clock,
      ),
  }
}

function handedInTarget(options: DatabaseOptions, environment: SqliteEnvironment): Target {
  const { database } = options
  const path = fileOf(database)
  return {
    isInMemory: path === '',
    isShared: path !== '',
    canTransact: true,
    exclusive: database,
    file: () => (path === '' ? '' : realPathOf(path)),
    connect(clock) {
      const { durability, migrate } = common(options)
      const file = path === '' ? 'the database in memory' : path
      const source = new HandedInSource(database, file, durability, migrate)
      const lockWaitMs = options.lockWaitMs ?? lockWaitMsUsual
      const connection = new Connection(source, environment, lockWaitMs)
      const library = libraryBehind(database)
      const share = { connection, library, release: () => connection.close() }
      const opened = connection.open(clock)
      return opened instanceof Promise ? opened.then(() => share) : share
    },
  }
}

function common({ durability = 'power', migrate = 'apply', unsafeFilesystem }: SqliteOptions) {
  return { durability, migrate, unsafeFilesystem: unsafeFilesystem ?? false }
}
