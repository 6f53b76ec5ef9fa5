import { SluiceError, sluiceChannel } from '@sluice/core'
import type { SqliteDatabase } from './database.ts'
import { logBytesMax } from './durability.ts'
import type { Machine } from './machine.ts'
import { statusOf } from './store-file.ts'

/** How many commits go by between two looks at the size of the log. */
const commitsPerLook = 256

/** How long to wait after an attempt that did not succeed, in milliseconds. */
const pauseMs = 10_000

interface CheckpointRow {
  readonly busy: number
}

/**
 * Keeps the write-ahead log from growing without bound.
 *
 * SQLite copies the log back into the file by itself every thousand pages, and then begins the log
 * anew, unless somebody is still reading from it: a program that has left a query half read can make
 * it grow until the disk is full. What is written here is seldom: look at its size, empty it if it
 * is too long, and say so if that is what a reader prevents.
 */
export class LogGuard {
  readonly #path: string
  readonly #machine: Machine
  readonly #bytesMax: number
  #commitsLeft = commitsPerLook
  #notBeforeMs = -Infinity

  constructor(file: string, machine: Machine, bytesMax: number = logBytesMax) {
    this.#path = `${file}-wal`
    this.#machine = machine
    this.#bytesMax = bytesMax
  }

  /** To be called after each commit. */
  committed(database: SqliteDatabase): void {
    this.#commitsLeft -= 1
    if (this.#commitsLeft > 0) return
    this.#commitsLeft = commitsPerLook
    const now = this.#machine.clock.monotonicMs()
    if (now < this.#notBeforeMs) return
    const bytes = this.#bytes()
    if (bytes > this.#bytesMax) this.#empty(database, bytes, now)
  }

  #bytes(): number {
    try {
      return statusOf(this.#path)?.size ?? 0
    } catch {
      // The commit has succeeded; that its log cannot be looked at is no failure of it.
      return 0
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
