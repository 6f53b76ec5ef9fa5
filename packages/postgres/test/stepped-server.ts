import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, type TestServer } from './server.ts'

const paths = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
]

/** The library that steps clocks; Debian has it as `libfaketime`. */
export const faketimePath: string | undefined = paths.find((path) => existsSync(path))

/** A server whose wall clock can be stepped; its monotonic clock goes on. */
export interface SteppedServer extends TestServer {
  /** Sets the server's wall clock this far from the machine's. */
  setOffset(ms: number): void
}

/** Starts a server that reads its clock through libfaketime. */
export async function startSteppedServer(): Promise<SteppedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-faketime-'))
  chmodSync(folder, 0o755)
  const file = join(folder, 'offset')
  const setOffset = (ms: number): void => {
    // As a whole: the server reads it with every look at the clock.
    writeFileSync(`${file}.new`, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1_000}s\n`)
    chmodSync(`${file}.new`, 0o644)
    renameSync(`${file}.new`, file)
  }
  setOffset(0)
  const environment: Readonly<Record<string, string>> = {
    LD_PRELOAD: faketimePath ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
  // The server takes its environment from this process.
  Object.assign(process.env, environment)
  try {
    const server = await startServer()
    return {
      ...server,
      setOffset,
      async stop() {
        await server.stop()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  } finally {
    for (const name of Object.keys(environment)) delete process.env[name]
  }
}
