import { type Awaitable, type Clock, isPromise, SluiceError } from '@sluice/core/driver'
import { differenceOf, type Library } from '../library/library.ts'
import { Connection } from './connection.ts'
import { type FileSettings, FileSource } from './database-source.ts'
import type { SqliteEnvironment } from './environment.ts'

interface Entry {
  readonly settings: FileSettings
  readonly connection: Connection
  users: number
}

/**
 * The connections of this process by the real paths of their files. One is enough for any number of
 * queues and drivers: SQLite has one writer at a time, and two connections of one process would
 * only wait for each other.
 */
const entries = new Map<string, Entry>()

/** A reference to a shared connection. */
export interface ConnectionShare {
  readonly connection: Connection
  /** The library of the connection. */
  readonly library: Library
  /** Releases the share; the last one closes the connection. */
  release(): void
}

/**
 * Shares the connection that is open to a file, whatever its settings; opens one if there is none.
 */
export function joinConnection(
  settings: FileSettings,
  environment: SqliteEnvironment,
  lockWaitMs: number,
  clock: Clock,
): Awaitable<ConnectionShare> {
  const { file } = settings
  const entry = entries.get(file)
  if (entry !== undefined) return openShare(file, entry, clock)
  return shareConnection(settings, environment, lockWaitMs, clock)
}

/** Opens a file, or shares its open connection if the settings agree. */
export function shareConnection(
  settings: FileSettings,
  environment: SqliteEnvironment,
  lockWaitMs: number,
  clock: Clock,
): Awaitable<ConnectionShare> {
  const { file } = settings
  let entry = entries.get(file)
  if (entry === undefined) {
    const connection = new Connection(new FileSource(settings), environment, lockWaitMs)
    entry = { settings, connection, users: 0 }
    entries.set(file, entry)
  } else {
    checkAgreement(entry.settings, settings)
  }
  return openShare(file, entry, clock)
}

function openShare(file: string, entry: Entry, clock: Clock): Awaitable<ConnectionShare> {
  const { connection } = entry
  entry.users += 1
  const share: ConnectionShare = {
    connection,
    library: entry.settings.library,
    release() {
      entry.users -= 1
      if (entry.users > 0) return
      entries.delete(file)
      connection.close()
    },
  }
  const opened = connection.open(clock)
  if (!isPromise(opened)) return share
  return opened.then(
    () => share,
    (error: unknown) => {
      share.release()
      throw error
    },
  )
}

function checkAgreement(open: FileSettings, wanted: FileSettings): void {
  const differing: string[] = []
  if (open.durability !== wanted.durability) differing.push('durability')
  // Two copies of SQLite in one process drop each other's locks.
  if (differenceOf(open.library, wanted.library) !== undefined) differing.push('library')
  if (differing.length === 0) return
  throw new SluiceError(
    'ERR_STORE',
    `${open.file} is already open in this process with another ${differing.join(' and ')}; use the same`,
  )
}
