import { closeSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { sluiceChannel } from '@sluice/core'
import { SluiceError } from '@sluice/core/driver'
import { prepare, type SqliteDatabase } from '../library/database.ts'
import { logBytesMax } from './durability.ts'
import type { SqliteEnvironment } from './environment.ts'
import { FolderChanges } from './folder-changes.ts'
import { statusOf } from './store-file.ts'

/** How long to wait after a failed attempt, in milliseconds. */
const pauseMs = 10_000

/** How often the length of the log is looked at while nothing changes in its folder, in milliseconds. */
const statusMs = 1_000

interface CheckpointRow {
  readonly busy: number
  readonly log: number
  readonly checkpointed: number
}

/**
 * Checks the write-ahead log after each commit, which takes a few microseconds.
 *
 * It must not grow without bound. SQLite copies it into the file every few thousand pages and then
 * restarts it, unless a connection is still reading from it: a query that is left half read can
 * make it grow until the disk is full. A log that is too long is emptied, and reported if a reader
 * prevents that.
 *
 * And it must exist: SQLite continues to write to a log that was deleted, which no other process
 * reads. As long as nothing changes in its folder, it is there. Its own status is read only if something
 * has changed: Linux, from 6.13 on, notes that a process has read the times of a file, gives it another one
 * with the next write, and has to write that to the disk too. With `durability: 'power'`, an add took 300 us
 * where it takes 220 without (`npm run bench -- sqlite`, the part `singles`).
 *
 * And it must begin with what SQLite wrote first. If it was emptied, as to make room on the disk, SQLite
 * continues to write after what it had written, and would then copy the gap into the file.
 */
export class LogGuard {
  readonly #path: string
  readonly #environment: SqliteEnvironment
  readonly #bytesMax: number
  readonly #folder: FolderChanges
  #notBeforeMs = -Infinity
  /** The inode of the log of the open connection; `undefined` if it has none. */
  #inode: number | undefined
  #statusAtMs = -Infinity

  constructor(file: string, environment: SqliteEnvironment, bytesMax: number = logBytesMax) {
    this.#path = `${file}-wal`
    this.#environment = environment
    this.#bytesMax = bytesMax
    this.#folder = new FolderChanges(dirname(file), environment.clock)
  }

  /** To be called when a connection was opened, which has created the log. */
  opened(): void {
    this.#inode = this.#status().ino
  }

  /** To be called when a connection was closed. */
  closed(): void {
    this.#folder.close()
  }

  /**
   * To be called after each commit. Throws if the commit went into a log that was deleted. Returns whether
   * other files may have been, too.
   */
  committed(database: SqliteDatabase): boolean {
    // A database in memory has no log.
    if (this.#inode === undefined) return false
    const now = this.#environment.clock.monotonicMs()
    const isAtRest = this.#folder.hasNone()
    const isLookDue = now - this.#statusAtMs >= statusMs
    if (isAtRest && !isLookDue) return false
    const { ino, size } = this.#status()
    if (ino !== this.#inode) {
      throw new SluiceError(
        'ERR_UNKNOWN_OUTCOME',
        `${this.#path} was removed while it was in use; the outcome of the last commit is unknown`,
      )
    }
    if (isLookDue) {
      this.#statusAtMs = now
      if (this.#isEmptied()) {
        const message = `${this.#path} was emptied while it was in use`
        throw Object.assign(new Error(message), { code: 'SQLITE_CORRUPT' })
      }
    }
    if (size > this.#bytesMax && now >= this.#notBeforeMs) this.#empty(database, size, now)
    return !isAtRest
  }

  /**
   * To be called when the disk is full: copies the log into the file, so that the next write uses the
   * room of the log again. Returns whether all of it was copied.
   */
  makesRoom(database: SqliteDatabase | undefined): boolean {
    if (database === undefined) return false
    try {
      const row = prepare(database, 'pragma wal_checkpoint(passive)').get() as CheckpointRow
      return row.log === row.checkpointed
    } catch {
      // The file would have to grow, for which there is no room either.
      return false
    }
  }

  #status(): { readonly ino: number | undefined; readonly size: number } {
    try {
      return statusOf(this.#path) ?? { ino: undefined, size: 0 }
    } catch {
      // The commit has succeeded; a failed look at its log does not change that.
      return { ino: this.#inode, size: 0 }
    }
  }

  /** Whether the log begins with a gap. */
  #isEmptied(): boolean {
    try {
      const handle = openSync(this.#path, 'r+')
      try {
        const start = Buffer.of(1)
        readSync(handle, start)
        if (start[0] !== 0) return false
        // The connection that closes last would copy the gap into the file. It fails to read a log that is too short.
        ftruncateSync(handle)
        return true
      } finally {
        closeSync(handle)
      }
    } catch {
      // As above.
      return false
    }
  }

  #empty(database: SqliteDatabase, bytes: number, now: number): void {
    this.#notBeforeMs = now + pauseMs
    let cause: unknown
    try {
      const row = prepare(database, 'pragma wal_checkpoint(truncate)').get() as CheckpointRow
      if (row.busy === 0) {
        this.#notBeforeMs = -Infinity
        return
      }
    } catch (error) {
      // The commit has succeeded. The next operation reports what is wrong with the file.
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
