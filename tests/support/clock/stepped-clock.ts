import { chmodSync, existsSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const libraries = ['x86_64-linux-gnu', 'aarch64-linux-gnu', '']
  .map((folder) => join('/usr/lib', folder, 'faketime/libfaketimeMT.so.1'))
  .filter((path) => existsSync(path))

/** Where libfaketime is, which lets a test set the wall clock of some processes alone. */
export const fakeTimeLibrary: string | undefined = libraries[0]

/** A wall clock for the processes that are started with its environment; it can be set. */
export class SteppedClock {
  readonly env: Readonly<Record<string, string>>
  readonly #file: string

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'))
    // A server runs under another user.
    chmodSync(folder, 0o755)
    this.#file = join(folder, 'offset')
    this.set(0)
    this.env = {
      LD_PRELOAD: fakeTimeLibrary ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Sets the clock to so many milliseconds from that of this machine. */
  set(offsetMs: number): void {
    const seconds = offsetMs / 1_000
    // Renamed, so that no process reads half of it.
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}s`, { mode: 0o644 })
    renameSync(`${this.#file}.new`, this.#file)
  }
}
