import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type EpochMs, SluiceError } from '@sluice/core/driver'
import type { Library } from '../library/library.ts'
import { createSchema, type Ownership } from '../schema/migrate.ts'
import { applyPragmas } from './durability.ts'

/** What `code` says of a failed call to the file system, if it is one. */
function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code
}

function fileError(message: string, cause?: unknown): SluiceError {
  // What is wrong with a directory or a mount can be put right while the program runs.
  return new SluiceError('ERR_STORE', message, { cause, retryable: true })
}

/** The one path of a file, whatever leads to it. Its directory has to be there. */
export function realPathOf(file: string): string {
  const path = resolve(file)
  try {
    return realpathSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw fileError(`${path} cannot be reached`, error)
  }
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch (error) {
    throw fileError(`the directory of ${path} is not there, or cannot be reached`, error)
  }
}

/** The file's status; `undefined` if it does not exist. Never opens it: see below. */
export function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw fileError(`${path} cannot be reached`, error)
  }
}

/** What is asked of a file before SQLite gets to see it. */
export interface FileRequirements {
  readonly library: Library
  readonly mustExist: boolean
  readonly unsafeFilesystem: boolean
  readonly ownership: Ownership
  readonly now: EpochMs
  /** The name of the file system of a directory if it is one of a network. */
  readonly networkOf: (directory: string) => string | undefined
}

/**
 * Makes the file if it is not there, and refuses what SQLite would quietly take for an empty
 * database.
 *
 * A file that SQLite has open must not be opened by anything else in this process: closing it would
 * drop the locks of the whole process. Looking at its status is all that is done here.
 */
export function ensureFile(path: string, wish: FileRequirements): void {
  const network = wish.networkOf(dirname(path))
  if (network !== undefined && !wish.unsafeFilesystem) {
    throw new SluiceError(
      'ERR_STORE',
      `${path} is on a file system (${network}) whose locks cannot be relied on; ` +
        'put it on a local disk, or say unsafeFilesystem: true',
    )
  }
  if (statusOf(path) === undefined) {
    if (wish.mustExist) throw fileError(`${path} does not exist`)
    createFile(path, wish)
  }
  const status = statusOf(path)
  if (status === undefined) throw fileError(`${path} has gone while it was opened`)
  if (!status.isFile()) throw new SluiceError('ERR_STORE', `${path} is not a file`)
  // A database of the program's own may be one that it has just begun.
  if (status.size === 0 && wish.ownership === 'ours') {
    throw new SluiceError(
      'ERR_STORE_DAMAGED',
      `${path} is empty; a queue's file never is. Remove it to begin anew`,
    )
  }
}

/**
 * Makes the file under another name and gives it its own in one step, so that nobody ever sees half
 * a file, and the first of several processes wins.
 */
function createFile(path: string, { library, now }: FileRequirements): void {
  if (statusOf(`${path}-wal`) !== undefined) {
    throw new SluiceError(
      'ERR_STORE_DAMAGED',
      `${path} is gone, and its log is still there; put the file back, or remove ${path}-wal`,
    )
  }
  const draft = `${path}.${randomUUID()}.new`
  try {
    // Readable for its owner only. SQLite gives its other files the mode of this one.
    closeSync(openSync(draft, 'wx', 0o600))
    const database = library.open(draft)
    try {
      applyPragmas(database, 'power')
      createSchema(database, now)
    } finally {
      database.close()
    }
    putInPlace(draft, path)
  } catch (error) {
    const code = codeOf(error)
    if (typeof code === 'string' && code.startsWith('E') && !code.startsWith('ERR_')) {
      throw code === 'ENOSPC' || code === 'EDQUOT'
        ? new SluiceError('ERR_STORE_FULL', `${path} could not be made: the disk is full`, {
            cause: error,
            retryable: true,
          })
        : fileError(`${path} could not be made`, error)
    }
    throw error
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) removeIfThere(`${draft}${suffix}`)
  }
}

function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process was first; its file is as good as ours.
    if (codeOf(error) === 'EEXIST') return
    // A file system without hard links. Here the first one could be overwritten, in a moment in
    // which nothing has been acknowledged yet by anyone that does not know of the other.
    if (statusOf(path) !== undefined) return
    renameSync(draft, path)
  }
  syncDirectory(dirname(path))
}

function syncDirectory(directory: string): void {
  let handle: number
  try {
    handle = openSync(directory, 'r')
  } catch {
    // Not every system lets a directory be opened.
    return
  }
  try {
    fsyncSync(handle)
  } catch {
    // Nor synced.
  } finally {
    closeSync(handle)
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It was not there, or it is of no further use anyway.
  }
}
