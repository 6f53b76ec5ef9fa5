import { sluiceChannel } from '@sluice/core'
import { SluiceError } from '@sluice/core/driver'
import type { SqliteDatabase } from '../library/database.ts'
import { logBytesMax } from './durability.ts'
import type { SqliteEnvironment } from './environment.ts'
import { statusOf } from './store-file.ts'

/** How long to wait after an attempt that did not succeed, in milliseconds. */
const pauseMs = 10_000

interface CheckpointRow {
  readonly busy: number
}

/**
 * Looks at the write-ahead log after each commit, which takes a microsecond.
 *
 * It must not grow without bound. SQLite copies it back into the file every few thousand pages and
 * then starts it over, unless a connection is still reading from it: a query that is left half read
 * can make it grow until the disk is full. A log that is too long is emptied, and reported if a
 * reader prevents that.
 *
 * And it must be there: SQLite goes on writing to a log that was deleted, which no other process
 * reads.
 */
export class LogGuard {
  readonly #path: string
  readonly #environment: SqliteEnvironment
  readonly #bytesMax: number
  #notBeforeMs = -Infinity
  /** The number of the log's file; `undefined` until it was looked at. */
  #inode: number | undefined

  constructor(file: string, environment: SqliteEnvironment, bytesMax: number = logBytesMax) {
    this.#path = `${file}-wal`
    this.#environment = environment
    this.#bytesMax = bytesMax
  }

  /** To be called when a connection was closed: the log of the next one may be another. */
  closed(): void {
    this.#inode = undefined
  }

  /** To be called after each commit. Throws if the commit went into a log that was deleted. */
  committed(database: SqliteDatabase): void {
    const { ino, size } = this.#status()
    this.#inode ??= ino
    if (ino !== this.#inode) {
      throw new SluiceError(
        'ERR_UNKNOWN_OUTCOME',
        `${this.#path} was removed while it was in use; the outcome of the last commit is unknown`,
      )
    }
    if (size <= this.#bytesMax) return
    const now = this.#environment.clock.monotonicMs()
    if (now >= this.#notBeforeMs) this.#empty(database, size, now)
  }

  #status(): { readonly ino: number | undefined; readonly size: number } {
    try {
      return statusOf(this.#path) ?? { ino: undefined, size: 0 }
    } catch {
      // The commit has succeeded; that its log cannot be looked at is no failure of it.
      return { ino: this.#inode, size: 0 }
    }
  }

  #empty(database: SqliteDatabase, bytes: number, now: number): void {
    this.#notBeforeMs = now + pauseMs
    let cause: unknown
    try {
      const row = database.prepare('pragma wal_checkpoint(truncate)').get() as CheckpointRow
      if (row.busy === 0) {
        this.#notBeforeMs = -Infinity
        return
      }
    } catch (error) {
      // Again: the commit stands. What is wrong with the file, the next operation will find.
      cause = error
    }
    const message =
      `${this.#path} has grown to ${Math.round(bytes / 2 ** 20)} MiB, because something keeps ` +
      'reading an old state of the file'
    sluiceChannel.error.publish({
      verb: 'error',
      queue: '',
      driver: 'sqlite',
      holder: '',
      request: { bytes, bytesMax: this.#bytesMax },
      error: new SluiceError('ERR_STORE', message, { cause, retryable: true }),
    })
  }
}
