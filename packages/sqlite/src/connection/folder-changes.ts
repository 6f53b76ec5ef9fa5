import { closeSync, fstatSync, openSync } from 'node:fs'
import type { Clock, EpochMs } from '@sluice/core/driver'

/**
 * How old the time of a change must be for the next change to get a later one, in milliseconds: file
 * systems may take it from a clock that ticks a hundred times a second.
 */
const tickMsMax = 100
/** The same for a time in whole seconds: some file systems keep no more of it. */
const secondsMsMax = 3_000

/**
 * Tells whether a file was created, removed or renamed in a folder, by the time of its last change.
 *
 * That takes less than a microsecond, where the status of a file by its path takes two.
 */
export class FolderChanges {
  readonly #folder: string
  readonly #clock: Clock
  /** The open folder; `undefined` before the first look, `null` if it cannot be read. */
  #handle: number | null | undefined
  /** The time of the last change, once it is so old that the next one will have another. */
  #changedAt: EpochMs = Number.NaN

  constructor(folder: string, clock: Clock) {
    this.#folder = folder
    this.#clock = clock
  }

  /** Whether nothing has changed since the last call. `false` also if that cannot be told. */
  hasNone(): boolean {
    if (this.#handle === null) return false
    let changedAt: EpochMs
    try {
      this.#handle ??= openSync(this.#folder, 'r')
      // A program cannot set this time, as it can that of the last change of the content.
      changedAt = fstatSync(this.#handle).ctimeMs
    } catch {
      // Without the right to read the folder, for example.
      this.close()
      this.#handle = null
      return false
    }
    if (changedAt === this.#changedAt) return true
    const ageMs = this.#clock.now() - changedAt
    const isSettled = ageMs > (changedAt % 1_000 === 0 ? secondsMsMax : tickMsMax)
    this.#changedAt = isSettled ? changedAt : Number.NaN
    return false
  }

  /** Closes the folder; the next call opens it again, and knows of no change. */
  close(): void {
    if (typeof this.#handle === 'number') closeSync(this.#handle)
    this.#handle = undefined
    this.#changedAt = Number.NaN
  }
}
