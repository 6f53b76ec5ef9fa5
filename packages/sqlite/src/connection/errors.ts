import { SluiceError } from '@sluice/core/driver'

/** The kinds of SQLite errors that the driver distinguishes. */
export type ErrorKind =
  | 'busy'
  | 'full'
  | 'input-output'
  | 'damaged'
  | 'cannot-open'
  | 'read-only'
  | 'other'

/**
 * The names of SQLite's errors, as better-sqlite3 gives them after `SQLITE_`, and their numbers, as node:sqlite
 * does. The low byte of an extended number is the primary one: https://sqlite.org/rescode.html
 */
const kinds: readonly (readonly [name: string, primary: number, kind: ErrorKind])[] = [
  ['BUSY', 5, 'busy'],
  ['LOCKED', 6, 'busy'],
  // Too many connections were at the locks at the same moment; only a retry helps.
  ['PROTOCOL', 15, 'busy'],
  ['READONLY', 8, 'read-only'],
  ['IOERR', 10, 'input-output'],
  ['CORRUPT', 11, 'damaged'],
  ['FULL', 13, 'full'],
  ['CANTOPEN', 14, 'cannot-open'],
  ['NOTADB', 26, 'damaged'],
]

/** What better-sqlite3 says while a query of the caller on the same connection has more rows. */
const isInQuery = 'This database connection is busy executing a query'

/** The kind of an error of either library; `undefined` if it is not one of SQLite. */
export function errorKindOf(error: unknown): ErrorKind | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ((error as Error).message === isInQuery) return 'busy'
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  const name = String(code)
  const isNumbered = typeof errcode === 'number'
  if (!isNumbered && !name.startsWith('SQLITE_')) return undefined
  const found = kinds.find(([known, primary]) =>
    isNumbered ? (errcode & 0xff) === primary : name.startsWith(`SQLITE_${known}`),
  )
  return found?.[2] ?? 'other'
}

/** The point at which a transaction failed; `examined`: before its commit, and the file is not damaged. */
export type Stage = 'opening' | 'before-commit' | 'commit' | 'examined'

const permissions = 'check the permissions of the file and of its folder'

/**
 * The error for the caller.
 *
 * After an input or output error during a commit its outcome is unknown: the log may contain the
 * commit although its fsync failed, and the next connection may find it. Every other error has
 * changed nothing.
 */
export function storeError(error: unknown, stage: Stage, file: string): SluiceError {
  if (SluiceError.is(error)) return error
  const trouble = stage === 'examined' ? 'input-output' : errorKindOf(error)
  const details = { cause: error, retryable: true }
  if (trouble === 'full' || (stage !== 'commit' && isWithoutLocks(error))) {
    return new SluiceError(
      'ERR_STORE_FULL',
      `the disk of ${file} is full; free some space`,
      details,
    )
  }
  switch (trouble) {
    case 'busy':
      return new SluiceError('ERR_STORE_BUSY', `${file} ${busyText(error)}`, details)
    case 'damaged':
      return new SluiceError(
        'ERR_STORE_DAMAGED',
        `${file} is damaged, or is not a SQLite database; restore a backup, or name another file`,
        { cause: error },
      )
    case 'input-output':
      if (stage === 'commit') {
        return new SluiceError(
          'ERR_UNKNOWN_OUTCOME',
          `${file} could not be written to; the outcome of the last commit is unknown`,
          { cause: error },
        )
      }
      return new SluiceError('ERR_STORE', `${file} could not be read or written`, details)
    case 'cannot-open':
      return new SluiceError(
        'ERR_STORE',
        `${file} cannot be opened; ${permissions}, and the limit of open files`,
        details,
      )
    case 'read-only':
      return new SluiceError('ERR_STORE', `${file} cannot be written to; ${permissions}`, details)
    case 'other':
    case undefined:
      return new SluiceError('ERR_STORE', `${file}: ${describe(error)}`, { cause: error })
    default:
      return trouble satisfies never
  }
}

/** Whether a transaction that has begun with a read cannot write, since another one has written meanwhile. */
export function isOfOldSnapshot(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  return code === 'SQLITE_BUSY_SNAPSHOT' || errcode === 517
}

/** Whether there was no room for the `-shm`, which SQLite calls an input or output error. */
function isWithoutLocks(error: unknown): boolean {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  return code === 'SQLITE_IOERR_SHMSIZE' || errcode === 4_874
}

function busyText(error: unknown): string {
  return describe(error) === isInQuery
    ? 'is in a query that was not read to its end'
    : 'is locked by another process'
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
