import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type EpochMs, SluiceError, systemClock } from '@sluice/core/driver'
import type { Library } from '../library/library.ts'
import { createSchema, type Ownership } from '../schema/migrate.ts'
import { applyPragmas, busyMs } from './durability.ts'

/** The `code` of an error of the file system; undefined for other errors. */
function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code
}

/** An error of the file or its directory, with what the system said: `EACCES: permission denied`. */
export function fileError(message: string, cause?: unknown, isFull = false): SluiceError {
  // The permission model of Node, which allows no more until the process ends.
  if (codeOf(Object(cause)) === 'ERR_ACCESS_DENIED') {
    return new SluiceError('ERR_STORE', `${message}: ${(cause as Error).message}`, { cause })
  }
  const reason = isFull
    ? 'the disk is full'
    : /^E[A-Z]+: [^,]+/.exec((cause as Error)?.message)?.[0]
  const text = reason === undefined ? message : `${message}: ${reason}`
  // A directory or a mount can be fixed while the program runs.
  return new SluiceError(isFull ? 'ERR_STORE_FULL' : 'ERR_STORE', text, { cause, retryable: true })
}

/** Where a link leads; `undefined` if there is none. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

/** Where a path leads from the current directory, which may have been removed. */
export function absolutePath(file: string): string {
  try {
    return resolve(file)
  } catch (error) {
    throw fileError(`${file} cannot be reached`, error)
  }
}

/** The real path of a file, through all links. Its directory must exist. */
export function realPathOf(file: string): string {
  const path = absolutePath(file)
  try {
    return realpathSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw fileError(`${path} cannot be reached`, error)
  }
  // A link may lead to a file that is yet to be created.
  const target = targetOf(path)
  if (target !== undefined) return realPathOf(resolve(realpathSync(dirname(path)), target))
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch (error) {
    throw fileError(`the directory of ${path} does not exist or cannot be reached`, error)
  }
}

/** The file's status; `undefined` if it does not exist. Never opens it: see {@link ensureFile}. */
export function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw fileError(`${path} cannot be reached`, error)
  }
}

/** The requirements on a file before SQLite opens it. */
export interface FileRequirements {
  readonly library: Library
  readonly mustExist: boolean
  readonly unsafeFilesystem: boolean
  readonly ownership: Ownership
  readonly now: EpochMs
  /** The name of the file system of a directory if it is a network file system. */
  readonly networkOf: (directory: string) => string | undefined
}

/**
 * Creates the file if it does not exist, and rejects files that SQLite would silently treat as an
 * empty database.
 *
 * A file that SQLite has open must not be opened by any other code of this process: closing it
 * would release the locks of the whole process. This function only reads its status.
 */
export function ensureFile(path: string, wish: FileRequirements): void {
  const before = statusOf(path)
  // First: the file system of a directory that is gone as well cannot be determined.
  if (!before && wish.mustExist) throw fileError(`${path} does not exist`)
  const network = wish.networkOf(dirname(path))
  if (network !== undefined && !wish.unsafeFilesystem) {
    throw new SluiceError(
      'ERR_STORE',
      `${path} is on a file system (${network}) whose locks cannot be relied on; ` +
        'put it on a local disk, or set unsafeFilesystem: true',
    )
  }
  if (!before) createFile(path, wish)
  removeOldDrafts(path)
  const status = statusOf(path)
  // Or it was removed again.
  if (!status?.isFile()) throw fileError(`${path} is not a file`)
  // A database of the program may be one that it has just created.
  if (status.size === 0 && wish.ownership === 'ours') {
    throw new SluiceError(
      'ERR_STORE_DAMAGED',
      `${path} is empty, which a store never is; remove it to begin again`,
    )
  }
}

/**
 * Creates the file under another name and renames it in one step, so that no process ever sees an
 * incomplete file, and the first of several processes wins.
 */
function createFile(path: string, { library, now }: FileRequirements): void {
  // Another process may have created and opened it since.
  if (statusOf(`${path}-wal`) && !statusOf(path)) {
    throw new SluiceError(
      'ERR_STORE_DAMAGED',
      `${path} is missing, but its log is there; put the file back, or remove ${path}-wal`,
    )
  }
  const draft = `${path}.${randomUUID()}.new`
  try {
    // Readable for its owner only. SQLite gives its other files the same mode.
    closeSync(openSync(draft, 'wx', 0o600))
    const database = library.open(draft)
    try {
      applyPragmas(database, 'power')
      createSchema(database, now)
      // Closing the file does this too, but reports no error: the rest would stay in a log that is removed.
      database.exec('pragma wal_checkpoint(truncate)')
    } finally {
      database.close()
    }
    putInPlace(draft, path, library)
  } catch (error) {
    const code = String(codeOf(error))
    if (!/^E(?!RR_)/.test(code)) throw error
    throw fileError(`cannot create ${path}`, error, /NOSPC|DQUOT/.test(code))
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) removeIfThere(`${draft}${suffix}`)
  }
}

/** How old a draft is whose process must have been killed, in milliseconds. */
const draftMsMax = 60_000

/** If its process was suspended and goes on, it fails to create the file, and tries again. */
function removeOldDrafts(path: string): void {
  const prefix = `${path}.`
  try {
    for (const name of readdirSync(dirname(path))) {
      const draft = join(dirname(path), name)
      if (!draft.startsWith(prefix)) continue
      if (!/^[\da-f-]{36}\.new(-\w+)?$/.test(draft.slice(prefix.length))) continue
      if (systemClock.now() - statSync(draft).mtimeMs > draftMsMax) unlinkSync(draft)
    }
  } catch {
    // They do no harm.
  }
}

function putInPlace(draft: string, path: string, library: Library): void {
  try {
    linkSync(draft, path)
  } catch {
    // Another process was first; its file is equivalent.
    if (statusOf(path)) return
    // There are no hard links. A rename would replace a file that another process has created since, with the
    // writes that it has acknowledged, so processes take turns. A lock of SQLite ends with its process.
    const lock = `${path}.lock`
    // A journal could not be opened after another process has removed the lock.
    whileAlone(library, lock, 'pragma journal_mode = off', () => {
      if (!statusOf(path)) renameSync(draft, path)
    })
    // A process that creates the lock again finds the file.
    removeIfThere(lock)
  }
  syncDirectory(dirname(path))
}

/** Does `work` while no other connection uses a file; busy if one does. */
export function whileAlone(
  library: Library,
  file: string,
  pragma: string,
  work?: () => void,
): void {
  const database = library.open(file)
  try {
    database.exec(`pragma busy_timeout = ${busyMs}`)
    database.exec(pragma)
    database.exec('begin exclusive')
    work?.()
  } finally {
    database.close()
  }
}

function syncDirectory(directory: string): void {
  try {
    const handle = openSync(directory, 'r')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // Not every system lets a directory be opened, or synced.
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It did not exist, or it is a leftover that does no harm.
  }
}
