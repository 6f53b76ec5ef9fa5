import { type Awaitable, type Clock, isPromise, SluiceTypeError } from '@sluice/core/driver'
import { adaptDatabase } from '../library/bun-database.ts'
import { type SqliteDatabase, singleValue } from '../library/database.ts'
import { canShareFiles, type LibraryName, libraryBehind, loadLibrary } from '../library/library.ts'
import {
  type DatabaseOptions,
  type FileOptions,
  isDatabase,
  type SqliteOptions,
} from '../sqlite-options.ts'
import { Connection } from './connection.ts'
import { type ConnectionShare, shareConnection } from './connection-share.ts'
import { type FileSettings, fileOf, HandedInSource } from './database-source.ts'
import type { SqliteEnvironment } from './environment.ts'
import { absolutePath, realPathOf } from './store-file.ts'

/** Where a driver stores its keys, and how it connects. */
export interface Target {
  readonly isInMemory: boolean
  /** Whether other processes can open it at the same time. */
  readonly isShared: boolean
  /**
   * Whether a connection of the caller can take part; not if the file must have one connection
   * only.
   */
  readonly canTransact: boolean
  /** The connection that the caller has passed as the only one, if any. */
  readonly exclusive: SqliteDatabase | undefined
  connect(clock: Clock): Awaitable<ConnectionShare>
}

/** How long an operation waits for a lock by default, in milliseconds. */
export const lockWaitMsDefault = 20_000

/** The target that the options name. */
export function targetOf(options: SqliteOptions, environment: SqliteEnvironment): Target {
  if (!isDatabase(options)) return fileTarget(options, environment)
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
  // The file is opened later, when the program may have changed its folder.
  const file = absolutePath(options.file)
  const isShared = canShare(options.library, environment)
  return {
    isInMemory: false,
    isShared,
    canTransact: isShared,
    exclusive: undefined,
    connect: (clock) =>
      shareConnection(
        fileSettings({ ...options, file }),
        environment,
        options.lockWaitMs ?? lockWaitMsDefault,
        clock,
      ),
  }
}

function canShare(name: LibraryName | undefined, environment: SqliteEnvironment): boolean {
  try {
    return canShareFiles(loadLibrary(name), environment)
  } catch {
    // It is missing; opening reports that.
    return true
  }
}

/** A connection of the driver in addition to the caller's. */
function guestTarget(options: DatabaseOptions, environment: SqliteEnvironment): Target {
  const database = adaptDatabase(options.database)
  const path = fileOf(database)
  if (path === '') {
    throw new SluiceTypeError(
      'exclusive',
      'must be true for a database in memory; there is no second connection to it',
    )
  }
  if (singleValue(database, 'pragma locking_mode') === 'exclusive') {
    throw new SluiceTypeError(
      'database',
      'must not have pragma locking_mode = exclusive, which locks out the connection of the driver; ' +
        'to let the driver use yours, set exclusive: true',
    )
  }
  return {
    isInMemory: false,
    isShared: true,
    canTransact: true,
    exclusive: undefined,
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
        options.lockWaitMs ?? lockWaitMsDefault,
        clock,
      ),
  }
}

function handedInTarget(options: DatabaseOptions, environment: SqliteEnvironment): Target {
  const database = adaptDatabase(options.database)
  const path = fileOf(database)
  return {
    isInMemory: path === '',
    isShared: path !== '',
    canTransact: true,
    exclusive: database,
    connect(clock) {
      const { durability, migrate } = common(options)
      const file = path === '' ? 'the database in memory' : realPathOf(path)
      const source = new HandedInSource(database, file, durability, migrate)
      const lockWaitMs = options.lockWaitMs ?? lockWaitMsDefault
      const connection = new Connection(source, environment, lockWaitMs)
      const library = libraryBehind(database)
      const share = { connection, library, release: () => connection.close() }
      const opened = connection.open(clock)
      return isPromise(opened) ? opened.then(() => share) : share
    },
  }
}

function common({ durability = 'power', migrate = 'apply', unsafeFilesystem }: SqliteOptions) {
  return { durability, migrate, unsafeFilesystem: unsafeFilesystem ?? false }
}
