import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where libfaketime is, which lets a test set the wall clock of some processes alone. */
export const fakeTimeLibrary: string | undefined = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/faketime/libfaketimeMT.so.1',
].find((path) => existsSync(path))

/** Where libfaketime keeps what a process shares with those that it starts, and the names of it. */
const shared = { folder: '/dev/shm', name: /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/ }

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Deletes what libfaketime has left in shared memory of processes that were killed. */
export function removeSharedTime(): void {
  if (!existsSync(shared.folder)) return
  for (const name of readdirSync(shared.folder)) {
    const pid = shared.name.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) {
      rmSync(join(shared.folder, name), { force: true })
    }
  }
}

/**
 * A wall clock for the processes that are started with its environment; their monotonic clock is
 * that of the machine.
 *
 * ```ts no-run
 * import { spawn } from 'node:child_process'
 * import { SteppedClock } from '@sluice/needs/stepped-clock'
 *
 * const clock = new SteppedClock()
 * const child = spawn('date', { env: { ...process.env, ...clock.env } })
 * clock.set(-3_600_000)
 * ```
 */
export class SteppedClock {
  readonly env: Readonly<Record<string, string>>
  readonly #folder: string
  readonly #file: string

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'sluice-clock-'))
    // A server that is started by root runs under another user.
    chmodSync(this.#folder, 0o755)
    this.#file = join(this.#folder, 'offset')
    this.set(0)
    this.env = {
      LD_PRELOAD: fakeTimeLibrary ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      // Its name depends on the version of the library.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Sets the clock to so many milliseconds from that of this machine. */
  set(offsetMs: number): void {
    const seconds = offsetMs / 1_000
    writeFileSync(`${this.#file}.new`, `${seconds < 0 ? '' : '+'}${seconds}s`)
    chmodSync(`${this.#file}.new`, 0o644)
    // Replaced as a whole: processes read it each time they read the clock.
    renameSync(`${this.#file}.new`, this.#file)
  }

  /** Deletes the file of the clock. Its processes have to be ended before. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
    removeSharedTime()
  }
}

let lastStart: Promise<unknown> = Promise.resolve()

/**
 * Runs `start`, which starts a program that takes the environment of this process, and gives that
 * program the wall clock. Starts wait for each other, since they share one environment: servers that
 * are started in parallel, with a clock or without one, must all be started by this function.
 */
export function startWithClock<T>(
  clock: SteppedClock | undefined,
  start: () => Promise<T>,
): Promise<T> {
  const started = lastStart.then(async () => {
    const { env } = process
    const before = Object.keys(clock?.env ?? {}).map((name) => [name, env[name]] as const)
    Object.assign(env, clock?.env)
    try {
      return await start()
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete env[name]
        else env[name] = value
      }
    }
  })
  lastStart = started.catch(() => undefined)
  return started
}
