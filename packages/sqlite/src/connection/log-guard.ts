import { sluiceChannel } from '@sluice/core'
import { SluiceError } from '@sluice/core/driver'
import type { SqliteDatabase } from '../library/database.ts'
import { logBytesMax } from './durability.ts'
import type { SqliteEnvironment } from './environment.ts'
import { linkToOpenFile, targetOf } from './open-file-link.ts'
import { statusOf } from './store-file.ts'

/** How long to wait after a failed attempt, in milliseconds. */
const pauseMs = 10_000

/** How long the status of a log is good for whose link has not changed, in milliseconds. */
const statusMs = 1_000

interface CheckpointRow {
  readonly busy: number
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
 * reads. The link to the open file shows that as well as its status does, and is cheaper: Linux, from
 * 6.13 on, notes that a process has read the times of a file, gives it another one with the next write,
 * and has to write that to the disk too. With `durability: 'power'`, an add took 300 us where it takes
 * 240 without (`npm run bench -- sqlite`, the part `singles`).
 */
export class LogGuard {
  readonly #path: string
  readonly #environment: SqliteEnvironment
  readonly #bytesMax: number
  #notBeforeMs = -Infinity
  /** The inode of the log; `undefined` until it was read. */
  #inode: number | undefined
  /** The link to the log that this process has open; empty if it cannot be told, or has changed. */
  #link: string | undefined
  #statusAtMs = -Infinity

  constructor(file: string, environment: SqliteEnvironment, bytesMax: number = logBytesMax) {
    this.#path = `${file}-wal`
    this.#environment = environment
    this.#bytesMax = bytesMax
  }

  /** To be called when a connection was closed: the log of the next one may be another. */
  closed(): void {
    this.#inode = undefined
    this.#link = undefined
  }

  /** To be called after each commit. Throws if the commit went into a log that was deleted. */
  committed(database: SqliteDatabase): void {
    const now = this.#environment.clock.monotonicMs()
    if (this.#isLinked() && now - this.#statusAtMs < statusMs) return
    this.#statusAtMs = now
    const { ino, size } = this.#status()
    this.#inode ??= ino
    if (ino !== this.#inode) {
      throw new SluiceError(
        'ERR_UNKNOWN_OUTCOME',
        `${this.#path} was removed while it was in use; the outcome of the last commit is unknown`,
      )
    }
    if (size <= this.#bytesMax) return
    if (now >= this.#notBeforeMs) this.#empty(database, size, now)
  }

  /** Whether the log that is open is still the one at its path. */
  #isLinked(): boolean {
    if (this.#link === undefined) {
      this.#link = linkToOpenFile(this.#path) ?? ''
      return false
    }
    if (this.#link !== '' && targetOf(this.#link) !== this.#path) this.#link = ''
    return this.#link !== ''
  }

  #status(): { readonly ino: number | undefined; readonly size: number } {
    try {
      return statusOf(this.#path) ?? { ino: undefined, size: 0 }
    } catch {
      // The commit has succeeded; a failed look at its log does not change that.
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
